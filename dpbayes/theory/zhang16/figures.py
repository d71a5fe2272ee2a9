"""The two figures of [Zhang16] as claims: what they say, and what of it comes back when they are drawn anew."""

from dpbayes.base.references import Reference
from dpbayes.theory.claims.claim import Claim, Verdict

# [Zhang16] Figure 1 is drawn by dpbayes/experiments/accuracy, Figure 2 by dpbayes/experiments/regression.

FIGURE_1 = Claim(
    Reference("Zhang16", "Figure 1"),
    "Accuracy of naive Bayes against ε",
    r"\text{accuracy}(\epsilon), \quad 16 \text{ features}, \quad n = 50, \quad 100 \text{ repeats}",
    Verdict.UNCLEAR,
    "The generator, t and the number of samples are not stated. With every probability from U(0, 1) the "
    "curves can be reproduced. At the epsilon stated in the paper, the sampler becomes more accurate than the "
    "other mechanisms, but this epsilon does not cover whole records. At the proved epsilon, the "
    "sampler is never the most accurate.",
    page="Accuracy",
)
FIGURE_2 = Claim(
    Reference("Zhang16", "Figure 2"),
    "Regression error against the prior precision",
    r"\text{MSE}(b), \quad B = 10/\sqrt b, \quad 2 L(w) \text{ falls with } B",
    Verdict.AMENDED,
    "On census-like records, the error grows with b, and the error of a private sample is only "
    "slightly larger. The proved "
    "epsilon per record falls with b, but the stated 2 L(w) is never below n/sigma^2 = 37,000. The census extract "
    "of the paper is not available here.",
    page="Regression",
)
CLAIMS: tuple[Claim, ...] = (FIGURE_1, FIGURE_2)
