"""Table 1 of [Zhang16] as one live table, with what every mechanism promises as stated and as proved; both figures."""

import math
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import EvaluationPoint, Subject
from dpbayes.theory.zhang16 import map as map_claims
from dpbayes.theory.zhang16.counts import corollary_1
from dpbayes.theory.zhang16.fourier import epsilon_of_printed_noise
from dpbayes.theory.zhang16.map import MOST_RECORDS, binary_root, corollary_4, lemma_4, shortfall_of_root, trimmed_row
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.theory.zhang16.rebuilt_tables import theorem_3
from dpbayes.theory.zhang16.sampling import theorem_4_1, theorem_4_2


@dataclass(frozen=True, eq=False)
class Table1Row:
    """One mechanism: its promises, what utility is measured by, the bound on that, and what of the table that uses."""

    mechanism: str
    privacy: tuple[Bound, ...]
    utility_of: str
    utility: Bound
    uses: Uses = Uses.PUBLIC

    def texts(self, *, is_curator: bool) -> dict[str, str]:
        """Return the row as texts by column; a recipient sees no number that follows from the counts."""
        pairs = ((_largest(bound.printed), _largest(bound.certified), bound.unit) for bound in self.privacy)
        printed, certified = "curator only", "curator only"
        if is_curator or self.uses.is_for_all:
            printed, certified = _largest(self.utility.printed), _largest(self.utility.certified)
        return {
            "mechanism": self.mechanism,
            "privacy, as stated": "; ".join(f"{stated} (proved {proved}) {unit}" for stated, proved, unit in pairs),
            "utility of": self.utility_of,
            "utility, as stated": printed,
            "utility, proved": certified,
            "unit": self.utility.unit,
        }


def _largest(values: FloatArray) -> str:
    largest = float(np.max(values))
    return numeral(largest) if math.isfinite(largest) else "unknown"


def table_1(subject: Subject, at: EvaluationPoint) -> tuple[Table1Row, ...]:
    """Return the rows of [Zhang16] Table 1 at a setting, without those that are `not_computable` there.

    The utilities of Laplace and of MAP depend on the counts and are the curator's to see.
    """
    rows = {"Laplace": laplace_row, "Fourier": fourier_row, "Sampler": sampler_row, "MAP": map_row}
    missing = not_computable(subject.network, subject.records)
    return tuple(row(subject, at) for mechanism, row in rows.items() if mechanism not in missing)


def not_computable(network: Network, n: int) -> dict[str, str]:
    """Return the mechanisms that `table_1` leaves out for so many records, and why."""
    missing = {} if n else dict.fromkeys(("Laplace", "MAP"), "there are no records")
    if not network.is_binary:
        missing["Fourier"] = "it needs a network of binary nodes"
    if binary_root(network) is None:
        missing["MAP"] = "its bounds are computed for a binary node without parents, and there is no such node"
    elif n > MOST_RECORDS:
        missing["MAP"] = f"its sensitivity is computed over all tables of a row, for at most {MOST_RECORDS:,} records"
    return missing


def laplace_row(subject: Subject, at: EvaluationPoint) -> Table1Row:
    """Return Algorithm 1: (epsilon, 0), and the KL divergence of Theorem 1. [Zhang16] Table 1, Laplace.

    Printed with constant 1 for the O() terms; certified is the sharpest proved quantile.
    """
    bounds = posterior_kl(subject.prior, subject.required_counts, epsilon=at.epsilons, delta=at.knobs.delta)
    return Table1Row(
        "Laplace",
        (corollary_1(subject.network, epsilon=at.epsilons),),
        "closeness of the posterior",
        replace(bounds.order, claim=LAPLACE),
        Uses.COUNTS,
    )


def fourier_row(subject: Subject, at: EvaluationPoint) -> Table1Row:
    """Return Algorithm 2: (epsilon, 0), and Theorem 3 for the largest table. [Zhang16] Table 1, Fourier."""
    certified = epsilon_of_printed_noise(subject.network, at.epsilons)
    promise = Bound(FOURIER, at.epsilons, certified, "nats of privacy loss")
    error = replace(theorem_3(subject, at), claim=FOURIER)
    return Table1Row("Fourier", (promise,), "closeness of the posterior's parameters", error)


def sampler_row(subject: Subject, at: EvaluationPoint) -> Table1Row:
    """Return posterior sampling: (2 L, 0) or (0, sqrt(M/2)), and the mean of N draws. [Zhang16] Table 1, Sampler.

    Utility is the distance of the mean of a function with values in [0, 1] over N draws from its posterior mean:
    printed sqrt(ln(1/delta)/N), constant 1 and eta = 0; certified sqrt(ln(2/delta)/(2 N)), by Hoeffding's inequality,
    from the mean under the trimmed posterior, which differs from the posterior's by what the table calls eta.
    """
    delta, network, draws = at.knobs.delta, subject.network, at.draws
    utility = Bound(
        SAMPLER,
        np.asarray(math.sqrt(-math.log(delta) / draws)),
        np.asarray(min(1.0, math.sqrt(math.log(2 / delta) / (2 * draws)))),
        "distance of the mean of a function in [0, 1]",
        confidence=1 - delta,
        assumptions=(Assumption("The error from trimming, η, is omitted", holds=True),),
    )
    # The printed promises say nothing of the distance between records: at rho = 1 they are 2 L and sqrt(M/2).
    lipschitz = theorem_4_1(network, omega=at.knobs.omega, draws=draws)
    per_distance = replace(lipschitz, claim=SAMPLER, printed=lipschitz.printed / len(network.names))
    stochastic = theorem_4_2(network, prior=subject.concentration, start=at.knobs.start)
    return Table1Row("Sampler", (per_distance, stochastic), "expected utility under the posterior", utility)


def map_row(subject: Subject, at: EvaluationPoint) -> Table1Row:
    """Return Algorithm 3 for the row of one binary root: (epsilon, 0), and Lemma 4. [Zhang16] Table 1, MAP.

    Privacy is that of the printed score, a density; utility that of masses of cells with Delta = sqrt(L).
    """
    row = trimmed_row(subject, at)
    mechanism = shortfall_of_root(subject, sensitivity=math.sqrt(row.constant))
    utility = lemma_4(mechanism, epsilon=at.epsilon[0], t=at.knobs.gap / 2)
    return Table1Row(
        "MAP",
        (corollary_4(row, epsilon=at.epsilons),),
        "closeness of the MAP estimate",
        replace(utility, claim=MAP),
        Uses.COUNTS,
    )


def counterexample_map_privacy() -> Counterexample:
    """Return the loss of the printed MAP estimate, above epsilon. [Zhang16] Table 1, MAP."""
    return replace(map_claims.counterexample_corollary_4(), claim=MAP)


def counterexample_map_utility() -> Counterexample:
    """Return how often its score falls short, above the printed bound. [Zhang16] Table 1, MAP."""
    return replace(map_claims.counterexample_lemma_4(), claim=MAP)


LAPLACE = Claim(
    Reference("Zhang16", "Table 1, Laplace"),
    "A Laplace release is ε-private, and its error has the stated order",
    r"(\epsilon, 0), \quad \mathcal O(mn \ln n)[1 - e^{-n\epsilon/2|\mathcal I|}]"
    r" + \sqrt{-\mathcal O(mn \ln n) \ln\delta}",
    Verdict.UNCLEAR,
    "The privacy guarantee holds. The bound on the divergence has the errors of Theorem 1 and grows with ε. Its "
    "constants are not stated.",
)
FOURIER = Claim(
    Reference("Zhang16", "Table 1, Fourier"),
    "A Fourier release is ε-private and accurate",
    r"(\epsilon, 0), \quad \tfrac{4|\mathcal N|}{\epsilon}"
    r" (2^{|\pi_i|} \ln\tfrac{|\mathcal N|}{\delta} + t|\mathcal N|)",
    Verdict.LOOSE,
    "Theorem 3 holds. Both the guarantee and the error bound can be sharpened.",
)
SAMPLER = Claim(
    Reference("Zhang16", "Table 1, Sampler"),
    "A posterior sample is private and accurate",
    r"(2L, 0) \text{ or } (0, \sqrt{M/2}), \quad \mathcal O(\eta + \sqrt{\ln(1/\delta)/N})",
    Verdict.AMENDED,
    "2 L is the loss for one sample and records at distance 1. For N samples and distances up to |I|, the loss is up "
    "to 2 L N |I|. √(M/2) is at least 1.66 for two or more nodes, and at least 0.833 for one binary node. "
    "It is below 1 only for one binary node, and for the prior Beta(a, a) only from a = 3,020 on.",
)
MAP = Claim(
    Reference("Zhang16", "Table 1, MAP"),
    "A private MAP estimate is ε-private and accurate",
    r"(\epsilon, 0), \quad P(S_{2t}^c) \le e^{-\epsilon t} / \xi(S_t)",
    Verdict.FALSE,
    "Neither Corollary 4 nor Lemma 4 holds as stated.",
)
# [Zhang16] Figure 1 is drawn by dpbayes/experiments/accuracy, Figure 2 by dpbayes/experiments/regression.py.

FIGURE_1 = Claim(
    Reference("Zhang16", "Figure 1"),
    "Naive Bayes has the accuracies of the figure",
    r"\text{accuracy}(\epsilon), \quad 16 \text{ features}, \quad n = 50, \quad 100 \text{ repeats}",
    Verdict.UNCLEAR,
    "The generator, t and the number of samples are not stated. With every probability from U(0, 1) the curves can be "
    "reproduced. At the ε stated in the paper, the sampler becomes more accurate than the other mechanisms, but "
    "this ε does not cover whole records. At the proved ε, the sampler is never the most accurate.",
    page="Lab: Predictions",
)
FIGURE_2 = Claim(
    Reference("Zhang16", "Figure 2"),
    "Private regression has the errors of the figure",
    r"\text{MSE}(b), \quad B = 10/\sqrt b, \quad 2 L(w) \text{ falls with } B",
    Verdict.AMENDED,
    "On census-like records, the error grows with b, and the error of a private sample is only slightly larger. The "
    "proved ε per record falls with b, but the stated 2 L(w) is never below n/σ² = 37,000. The census "
    "extract of the paper is not available here.",
    page="Lab: Regression",
)
