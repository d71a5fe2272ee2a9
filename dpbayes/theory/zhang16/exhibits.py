"""Every claim of the Bounds page: how it is evaluated, what it is measured by, what it depends on, where it fails."""

from collections.abc import Callable

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.claims.exhibit import Evaluate, Exhibit, Fill, Says, Uses
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.claims.truth import unmeasured
from dpbayes.theory.zhang16 import counts as updates
from dpbayes.theory.zhang16 import evaluations as work
from dpbayes.theory.zhang16 import formulas, fourier, map, sampling, stealth
from dpbayes.theory.zhang16 import posterior_kl as kl
from dpbayes.theory.zhang16 import posterior_kl_counterexamples as kl_fails

KL_AXES = (Axis.EPSILON, Axis.RECORDS, Axis.DELTA)
KL_TEXT = ("a KL divergence of {} nats", "KL(exact || released), nats")
MEAN_TEXT = ("a mean KL divergence of {} nats", KL_TEXT[1])
LOSS_TEXT = ("promises a privacy loss of {} nats", "privacy loss of one record, nats")
BOTH = ("epsilon", "bounds.delta")


def _kl_exhibit(
    title: str, claim: Claim, bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]
) -> Exhibit:
    return Exhibit(
        title,
        claim,
        Says.QUANTILE,
        bound,
        work.kl_quantile,
        formula,
        KL_AXES,
        *KL_TEXT,
        (*BOTH, "prior"),
        fails,
        Uses.COUNTS,
    )


def _mean_exhibit(
    title: str, claim: Claim, bound: Evaluate, formula: Fill, *fails: Callable[[], Counterexample]
) -> Exhibit:
    axes = (Axis.EPSILON, Axis.RECORDS)
    knobs = ("epsilon", "prior")
    return Exhibit(title, claim, Says.MEAN, bound, work.kl_mean, formula, axes, *MEAN_TEXT, knobs, fails, Uses.COUNTS)


EXHIBITS: dict[str, Exhibit] = {
    "THEOREM_1": _kl_exhibit(
        "Theorem 1: KL of the posterior",
        kl.THEOREM_1,
        work.theorem_1,
        formulas.theorem_1,
        kl_fails.counterexample_deviation,
    ),
    "C_SQUARED": _kl_exhibit(
        "Theorem 1 (c squared): McDiarmid mended",
        kl.THEOREM_1,
        work.c_squared,
        formulas.c_squared,
        kl_fails.counterexample_deviation,
    ),
    "CLOSED_FORM": _kl_exhibit(
        "Theorem 1 (with U): KL of the posterior", kl.CLOSED_FORM, work.closed_form, formulas.closed_form
    ),
    "EXPECTATION": _mean_exhibit(
        "Theorem 1 (U): mean KL", kl.EXPECTATION, work.mean, formulas.expectation, kl_fails.counterexample_expectation
    ),
    "REFINED": _mean_exhibit(
        "Theorem 1 (refined): mean KL",
        kl.REFINED,
        work.refined_mean,
        formulas.refined,
        kl_fails.counterexample_refinement,
    ),
    "ORDER": _kl_exhibit(
        "Theorem 1 (last display): order of the KL", kl.ORDER, work.order, formulas.order, kl_fails.counterexample_order
    ),
    "PROPOSITION_1": Exhibit(
        "Proposition 1: largest noise",
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
    "CLIPPED": Exhibit(
        "Proposition 1 (clipped): largest change of a count",
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
    "COROLLARY_2": Exhibit(
        "Corollary 2: noise of Fourier coefficients",
        fourier.COROLLARY_2,
        Says.CERTAIN,
        work.corollary_2,
        unmeasured,
        formulas.corollary_2,
        (Axis.EPSILON,),
        "asks for noise of scale {}",
        "noise scale of a coefficient, records",
        ("epsilon",),
    ),
    "THEOREM_3": Exhibit(
        "Theorem 3: error of a Fourier table",
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
    "COROLLARY_3": Exhibit(
        "Corollary 3: negative Fourier tables",
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
    "THEOREM_4_1": Exhibit(
        "Theorem 4(1): privacy of trimmed draws",
        sampling.THEOREM_4_1,
        Says.CERTAIN,
        work.theorem_4_1,
        unmeasured,
        formulas.theorem_4_1,
        (Axis.OMEGA,),
        *LOSS_TEXT,
        ("bounds.omega", "draws"),
    ),
    "THEOREM_4_2": Exhibit(
        "Theorem 4(2): privacy under a concentrated prior",
        sampling.THEOREM_4_2,
        Says.CERTAIN,
        work.theorem_4_2,
        unmeasured,
        formulas.theorem_4_2,
        (Axis.PRIOR,),
        "allows a total variation distance of {}",
        "total variation distance",
        ("prior", "bounds.start"),
    ),
    "APPENDIX_C2": Exhibit(
        "Appendix C.2: trimming for epsilon",
        sampling.APPENDIX_C2,
        Says.CERTAIN,
        work.appendix_c_2,
        unmeasured,
        formulas.appendix_c2,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        ("epsilon", "draws"),
        (sampling.counterexample_appendix_c_2,),
    ),
    "COROLLARY_4": Exhibit(
        "Corollary 4: privacy of the printed MAP",
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
    "LEMMA_4": Exhibit(
        "Lemma 4: utility of the private MAP",
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
