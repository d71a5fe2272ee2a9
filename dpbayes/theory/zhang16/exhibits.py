"""Every claim of the Bounds page: how it is evaluated, what it is measured by, what it depends on, where it fails."""

from collections.abc import Callable

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.claims.exhibit import Evaluate, Exhibit, Fill, Says, Uses
from dpbayes.theory.claims.options import Axis, BoundClaim
from dpbayes.theory.dimitrakakis14.exhibits import ALT_EXHIBITS
from dpbayes.theory.dimitrakakis14.lemma_exhibits import LEMMA_EXHIBITS
from dpbayes.theory.notes.exhibits import NOTES_EXHIBITS
from dpbayes.theory.zhang16 import counts as updates
from dpbayes.theory.zhang16 import evaluations as work
from dpbayes.theory.zhang16 import formulas, fourier, map, sampling, stealth
from dpbayes.theory.zhang16 import posterior_kl as kl
from dpbayes.theory.zhang16 import posterior_kl_counterexamples as kl_fails
from dpbayes.theory.zhang16.exhibits_more import ZHANG_EXHIBITS

KL_AXES = (Axis.EPSILON, Axis.RECORDS, Axis.DELTA)
KL_TEXT = ("a KL divergence of {} nats", "KL(exact || released), nats")
MEAN_TEXT = ("a mean KL divergence of {} nats", KL_TEXT[1])
LOSS_TEXT = ("promises a privacy loss of {} nats", "privacy loss of one record, nats")
BOTH = ("epsilon", "bounds.delta")


def _kl_exhibit(claim: Claim, bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]) -> Exhibit:
    return Exhibit(
        claim, Says.QUANTILE, bound, work.kl_quantile, formula, KL_AXES, *KL_TEXT, (*BOTH, "prior"), fails, Uses.COUNTS
    )


def _mean_exhibit(claim: Claim, bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]) -> Exhibit:
    axes = (Axis.EPSILON, Axis.RECORDS)
    knobs = ("epsilon", "prior")
    return Exhibit(claim, Says.MEAN, bound, work.kl_mean, formula, axes, *MEAN_TEXT, knobs, fails, Uses.COUNTS)


_FIRST: dict[BoundClaim, Exhibit] = {
    BoundClaim.THEOREM_1: _kl_exhibit(
        kl.THEOREM_1, work.theorem_1, formulas.theorem_1, kl_fails.counterexample_deviation
    ),
    BoundClaim.C_SQUARED: _kl_exhibit(
        kl.THEOREM_1, work.c_squared, formulas.c_squared, kl_fails.counterexample_deviation
    ),
    BoundClaim.CLOSED_FORM: _kl_exhibit(kl.CLOSED_FORM, work.closed_form, formulas.closed_form),
    BoundClaim.EXPECTATION: _mean_exhibit(
        kl.EXPECTATION, work.mean, formulas.expectation, kl_fails.counterexample_expectation
    ),
    BoundClaim.REFINED: _mean_exhibit(
        kl.REFINED, work.refined_mean, formulas.refined, kl_fails.counterexample_refinement
    ),
    BoundClaim.ORDER: _kl_exhibit(kl.ORDER, work.order, formulas.order, kl_fails.counterexample_order),
    BoundClaim.PROPOSITION_1: Exhibit(
        updates.PROPOSITION_1,
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
        updates.CLIPPED,
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
        fourier.COROLLARY_2,
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
        fourier.THEOREM_3,
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
        stealth.COROLLARY_3,
        Says.CHANCE,
        work.corollary_3,
        work.negative_share,
        formulas.corollary_3,
        (Axis.T,),
        "a negative cell in {} of releases",
        "probability of a negative cell",
        ("bounds.t",),
        (stealth.counterexample_corollary_3, stealth.counterexample_corollary_3_rebuilt),
    ),
    BoundClaim.THEOREM_4_1: Exhibit(
        sampling.THEOREM_4_1,
        Says.CERTAIN,
        work.theorem_4_1,
        work.unmeasured,
        formulas.theorem_4_1,
        (Axis.OMEGA,),
        *LOSS_TEXT,
        ("bounds.omega", "draws"),
    ),
    BoundClaim.THEOREM_4_2: Exhibit(
        sampling.THEOREM_4_2,
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
        sampling.APPENDIX_C2,
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
        map.COROLLARY_4,
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
        map.LEMMA_4,
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
        part=formulas.row_of_root,
    ),
}

_EVERY = (_FIRST, ZHANG_EXHIBITS, ALT_EXHIBITS, LEMMA_EXHIBITS, NOTES_EXHIBITS)
EXHIBITS: dict[BoundClaim, Exhibit] = {claim: exhibit for some in _EVERY for claim, exhibit in some.items()}
"""What the page knows of every claim it offers."""
