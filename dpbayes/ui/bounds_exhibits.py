"""Every claim of the Bounds page: how it is evaluated, what it is measured by, what it depends on, where it fails."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

from dpbayes.bounds import map, sampling
from dpbayes.bounds import posterior_kl_counterexamples as kl_fails
from dpbayes.bounds.base import Bound
from dpbayes.bounds.counterexample import Counterexample
from dpbayes.experiments.bounds import Measured
from dpbayes.ui import bounds_evaluations as work
from dpbayes.ui import bounds_formulas as formulas
from dpbayes.ui.bounds_options import Axis, BoundClaim
from dpbayes.ui.bounds_subject import At, Subject

Evaluate = Callable[[Subject, At], Bound]
Fill = Callable[[Subject, At, Bound], str]


class Says(enum.Enum):
    """What kind of statement a bound is."""

    QUANTILE = "what is exceeded with probability delta at most"
    MEAN = "a mean"
    CHANCE = "a probability"
    CERTAIN = "a largest value"


class Uses(enum.Enum):
    """What of the table a claim needs."""

    PUBLIC = "nothing, or the public n"
    SIMULATION = "the counts, for the simulation alone"
    COUNTS = "the counts"


@dataclass(frozen=True)
class Exhibit:
    """A claim on the page.

    `axes` are what it may be drawn against, the usual one first. `amount` is a number of its unit in words, with a verb
    where the bound is CERTAIN, and `unit` the title of its axis. `knobs` are the controls of what else it depends on,
    `fails` its counterexamples.
    """

    says: Says
    bound: Evaluate
    measure: Callable[[Subject, At, Bound], Measured]
    formula: Fill
    axes: tuple[Axis, ...]
    amount: str
    unit: str
    knobs: tuple[str, ...]
    fails: tuple[Callable[[], Counterexample], ...] = ()
    uses: Uses = Uses.PUBLIC


KL_AXES = (Axis.EPSILON, Axis.RECORDS, Axis.DELTA)


KL_TEXT = ("a KL divergence of {} nats", "KL(exact || released), nats")
MEAN_TEXT = ("a mean KL divergence of {} nats", KL_TEXT[1])
LOSS_TEXT = ("promises a privacy loss of {} nats", "privacy loss of one record, nats")
BOTH = ("epsilon", "bounds.delta")


def _kl_exhibit(bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]) -> Exhibit:
    return Exhibit(
        Says.QUANTILE, bound, work.kl_quantile, formula, KL_AXES, *KL_TEXT, (*BOTH, "prior"), fails, Uses.COUNTS
    )


def _mean_exhibit(bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]) -> Exhibit:
    axes = (Axis.EPSILON, Axis.RECORDS)
    return Exhibit(Says.MEAN, bound, work.kl_mean, formula, axes, *MEAN_TEXT, ("epsilon", "prior"), fails, Uses.COUNTS)


EXHIBITS: dict[BoundClaim, Exhibit] = {
    BoundClaim.THEOREM_1: _kl_exhibit(work.theorem_1, formulas.theorem_1, kl_fails.counterexample_deviation),
    BoundClaim.CLOSED_FORM: _kl_exhibit(work.closed_form, formulas.closed_form),
    BoundClaim.EXPECTATION: _mean_exhibit(work.mean, formulas.expectation, kl_fails.counterexample_expectation),
    BoundClaim.REFINED: _mean_exhibit(work.refined_mean, formulas.refined, kl_fails.counterexample_refinement),
    BoundClaim.ORDER: _kl_exhibit(work.order, formulas.order, kl_fails.counterexample_order),
    BoundClaim.PROPOSITION_1: Exhibit(
        Says.QUANTILE,
        work.proposition_1,
        work.largest_noise,
        formulas.proposition_1,
        (Axis.EPSILON, Axis.DELTA),
        "noise of {} records on a count",
        "largest noise on any count, records",
        BOTH,
    ),
    BoundClaim.CLIPPED: Exhibit(
        Says.QUANTILE,
        work.clipped,
        work.largest_change,
        formulas.clipped,
        KL_AXES,
        "a count off by {} records",
        "largest change of any released count, records",
        BOTH,
        uses=Uses.SIMULATION,
    ),
    BoundClaim.COROLLARY_2: Exhibit(
        Says.CERTAIN,
        work.corollary_2,
        work.unmeasured,
        formulas.corollary_2,
        (Axis.EPSILON,),
        "asks for noise of scale {}",
        "noise scale of a coefficient, records",
        ("epsilon",),
    ),
    BoundClaim.THEOREM_3: Exhibit(
        Says.QUANTILE,
        work.theorem_3,
        work.table_error,
        formulas.theorem_3,
        (Axis.EPSILON, Axis.DELTA, Axis.T),
        "an L1 error of {} records",
        "L1 error of the largest table, records",
        (*BOTH, "bounds.t"),
    ),
    BoundClaim.COROLLARY_3: Exhibit(
        Says.CHANCE,
        work.corollary_3,
        work.negative_share,
        formulas.corollary_3,
        (Axis.T,),
        "a negative cell in {} of releases",
        "probability of a negative cell",
        ("bounds.t",),
        (work.small_increment,),
    ),
    BoundClaim.THEOREM_4_1: Exhibit(
        Says.CERTAIN,
        work.theorem_4_1,
        work.unmeasured,
        formulas.theorem_4_1,
        (Axis.OMEGA,),
        *LOSS_TEXT,
        ("bounds.omega", "draws"),
    ),
    BoundClaim.THEOREM_4_2: Exhibit(
        Says.CERTAIN,
        work.theorem_4_2,
        work.unmeasured,
        formulas.theorem_4_2,
        (Axis.PRIOR,),
        "allows a total variation distance of {}",
        "total variation distance",
        ("prior", "bounds.start"),
    ),
    BoundClaim.APPENDIX_C2: Exhibit(
        Says.CERTAIN,
        work.appendix_c_2,
        work.unmeasured,
        formulas.appendix_c2,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        ("epsilon", "draws"),
        (sampling.counterexample_appendix_c_2,),
    ),
    BoundClaim.COROLLARY_4: Exhibit(
        Says.CERTAIN,
        work.corollary_4,
        work.printed_map_loss,
        formulas.corollary_4,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        ("epsilon", "bounds.omega", "prior"),
        (map.counterexample_corollary_4, map.counterexample_algorithm_3),
    ),
    BoundClaim.LEMMA_4: Exhibit(
        Says.CHANCE,
        work.lemma_4,
        work.shortfall,
        formulas.lemma_4,
        (Axis.EPSILON,),
        "a shortfall in {} of releases",
        "probability of falling short",
        ("epsilon", "bounds.gap", "prior"),
        (map.counterexample_lemma_4, map.counterexample_lemma_4_masses),
        uses=Uses.COUNTS,
    ),
}
