"""What it costs to release again until a release is non-negative. [Zhang16] section 3.2, Re-running."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.theory.claims.claim import LOSS_TEXT, Assumption, Bound, Claim, Verdict, bound_texts
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured, exactly
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

RERUNS = Claim(
    Reference("Zhang16", "Section 3.2, Re-running"),
    "Re-running costs ε for each run",
    r"R\ \text{runs cost}\ R\,\varepsilon",
    Verdict.LOOSE,
    "Releasing only the first success costs 2 epsilon for any number of runs, if this number is kept secret.",
    mechanism="LaplaceFourier",
)

SHARE = 0.01
"""The share of the success that gives most away, in the mechanism that re-running is shown for."""


def rerun_bound(epsilon: ArrayLike, runs: ArrayLike) -> Bound:
    """Bound the privacy loss of running until the first success, `runs` (...) runs in all.

    Each of P(A and S) and P(S) moves by at most e^epsilon, hence P(A | S) = P(A and S)/P(S) by e^(2 epsilon).
    [Zhang16] Section 3.2, Re-running.
    """
    epsilon, runs = np.asarray(epsilon, dtype=np.float64), np.asarray(runs)
    hidden = Assumption("The number of runs is kept secret, and runs continue until one succeeds.", holds=True)
    return Bound(RERUNS, runs * epsilon, np.minimum(runs, 2) * epsilon, "epsilon", assumptions=(hidden,))


def first_success_loss(epsilon: FloatArray, share: float = SHARE) -> FloatArray:
    """Return the exact loss of handing over the first success of one epsilon-private mechanism: (E,).

    Successes are rare, and one of them is a `share` of all; a neighbour makes it e^epsilon times rarer and the others
    e^epsilon times more frequent, so that it becomes share e^-epsilon/(share e^-epsilon + (1 - share) e^epsilon) of
    all. [Zhang16] Section 3.2, Re-running.
    """
    return 2 * epsilon + np.log1p(share * np.expm1(-2 * epsilon))


def rerun_loss(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Find the exact loss of a mechanism whose first success gives nearly twice epsilon away; one run loses epsilon."""
    loss = at.epsilons if at.knobs.runs < 2 else first_success_loss(at.epsilons)
    return exactly(loss, printed=bound.printed, name="exact loss of an example")


def reruns_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Zhang16] Section 3.2, Re-running."""
    printed, certified = bound_texts(bound)
    return f"""
- Runs go on until the first success, and only this run is released; $\\epsilon = {at.epsilon[0]:g}$.
- **As stated**: $R\\epsilon = {at.knobs.runs:g} \\cdot {at.epsilon[0]:g} = {printed}$ nats.
- **Proved**: $\\min(R, 2)\\,\\epsilon = {certified}$ nats: the release has probability $P(A, S)/P(S)$, and both
  probabilities change by a factor of at most $e^\\epsilon$.
- **Exact**, for two runs or more: $2\\epsilon + \\ln\\bigl(1 - p\\,(1 - e^{{-2\\epsilon}})\\bigr)$, $p = {SHARE:g}$.
  One output has a share $p$ of the successes, which are rare. A neighbouring table makes this output $e^\\epsilon$
  times rarer and the others $e^\\epsilon$ times more frequent. As $p$ tends to 0, the loss tends to the proved bound.
"""


CLAIMS: tuple[Claim, ...] = (RERUNS,)

EXHIBITS: dict[str, Exhibit] = {
    "RERUNS": Exhibit(
        "Section 3.2: privacy of trying again",
        RERUNS,
        BoundKind.CERTAIN,
        lambda subject, at: rerun_bound(at.epsilons, at.knobs.runs),
        rerun_loss,
        reruns_formula,
        (Axis.RUNS, Axis.EPSILON),
        *LOSS_TEXT,
        ("bounds.runs", "epsilon"),
    ),
}
"""The claims as they are shown."""
