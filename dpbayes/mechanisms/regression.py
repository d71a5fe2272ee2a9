"""Samples from the posterior of regression weights, private because the weights are bounded. [Zhang16] Appendix D."""

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import RUST
from dpbayes.base.parameters import Parameter, check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import generator
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, leading, type_checked, whole_number
from dpbayes.mechanisms.parameters import EPSILON, MOST_DRAWS, draws_of
from dpbayes.model.regression import Moments, ScaledRegression, moments
from dpbayes.posteriors.gaussian import Gaussian, sample_in_ball, weights_posterior
from dpbayes.posteriors.smoothness import regression_log_ratio

PRIOR_PRECISION = Parameter(
    "b",
    low=1e-3,
    high=1e9,
    typical=1.0,
    log=True,
    title="Prior precision",
    description="The inverse variance of the prior of every weight.",
)
NOISE_VARIANCE = Parameter(
    r"\sigma^2",
    low=1e-4,
    high=1e4,
    typical=1.0,
    log=True,
    title="Noise variance",
    description="The variance of the target around its mean, in scaled units. A larger variance "
    "lowers the privacy loss.",
)
NORM_BOUND = Parameter(
    "B",
    low=1e-12,
    high=1e9,
    typical=1.0,
    log=True,
    title="Norm bound",
    description="The largest norm of the weight vector. A smaller bound reduces the influence of one record.",
)
DRAWS = draws_of("weight vectors")


@dataclass(frozen=True, kw_only=True)
class RegressionSampler:
    """N samples of the weights w from their posterior, truncated to ||w|| <= B. [Zhang16] Appendix D.

    The prior is N(0, I/b), truncated to the same ball; y given x is N(x'w, sigma^2), with ||x|| <= 1 and |y| <= 1 for
    every record. Sampling is exact, by rejection. Its run time depends on the data, which no guarantee covers.
    """

    label: ClassVar[str] = "Regression sampling"
    summary: ClassVar[str] = "Releases samples of bounded regression weights."
    named: ClassVar[str] = "regression sampling"
    colour: ClassVar[str] = RUST
    prior_precision: Annotated[float, PRIOR_PRECISION]
    noise_variance: Annotated[float, NOISE_VARIANCE] = 1.0
    norm_bound: Annotated[float, NORM_BOUND] = 1.0
    draws: Annotated[int, DRAWS] = 1

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    def formula(self) -> str:
        return (
            "Weights $w$ are sampled from $p(w|x, y) \\propto \\exp(-b\\|w\\|^2/2 - \\sum_i (y_i - "
            "x_i'w)^2/2\\sigma^2)$ "
            f"on $\\|w\\| \\le B$, at $b = {latex(self.prior_precision)}$, "
            f"$\\sigma^2 = {latex(self.noise_variance)}$, $B = {latex(self.norm_bound)}$, "
            f"$N = {self.draws}$. One replaced record moves the logarithm by "
            "at most $((1 + B)^2 - \\max(0, 1 - B)^2)/\\sigma^2$ for any $n$, in each sample. "
            "The paper uses $2L(w) = \\frac{n}{\\sigma^2}(1 + 2\\|w\\|_1 + d\\|w\\|_2)$ at the worst "
            "$w$. This bound grows with $n$."
        )

    def claimed(self, n: int, *, features: int) -> Guarantee:
        """2 L(w) = (n/sigma^2) (1 + 2 ||w||_1 + d ||w||_2) at the worst w, for one sample. [Zhang16] Appendix D.

        It grows with n, although the distance between tables already includes n. Errors: InputError for bad sizes.
        """
        n = whole_number("The number of records", n, low=0, high=2**53)
        d = whole_number("The number of features", features, low=1, high=2**31)
        worst = 1 + 2 * math.sqrt(d) * self.norm_bound + d * self.norm_bound
        return Guarantee(n / self.noise_variance * worst, reference=Reference("Zhang16", "Appendix D"))

    @property
    def certified(self) -> Guarantee:
        """N ((1 + B)^2 - max(0, 1 - B)^2)/sigma^2: 4 B N/sigma^2 up to B = 1, and N (1 + B)^2/sigma^2 from there.

        See `regression_log_ratio`. The bound does not depend on n or d. With B <= 1, or with two features or more, the
        loss of some neighbours approaches it as n grows.
        """
        epsilon = self.draws * float(regression_log_ratio(self.norm_bound, noise_variance=self.noise_variance))
        return Guarantee(epsilon, reference=Reference("dpbayes", "Appendix D of Zhang16, per record and sample"))

    def statistic(self, data: ScaledRegression) -> Moments:
        """Return the moments of scaled records. Errors: InputError for a table that has not been scaled."""
        return moments(data)

    def posterior(self, statistic: Moments) -> Gaussian:
        """Return the posterior before truncation to the ball; for the curator only."""
        return weights_posterior(statistic, prior_precision=self.prior_precision, noise_variance=self.noise_variance)

    @type_checked
    def simulate(self, statistic: Moments, rng: np.random.Generator | int, size: tuple[int, ...] = ()) -> FloatArray:
        """Sample weights (*size, ..., N, d). Errors: InputError for moments that no scaled records can have."""
        _require_scaled(statistic)
        drawn = sample_in_ball(self.posterior(statistic), self.norm_bound, generator(rng), (*leading(size), self.draws))
        return np.moveaxis(drawn, len(size), -2)


def norm_bound_for(epsilon: float, *, noise_variance: float, draws: int = 1) -> float:
    """Return the largest B whose certified epsilon for all draws is `epsilon`: e/4 up to e = 4, then sqrt(e) - 1.

    Here e = epsilon sigma^2/N. Errors: InputError for values out of their parameter's range.
    """
    epsilon = EPSILON.checked("epsilon", epsilon)
    variance = NOISE_VARIANCE.checked("noise_variance", noise_variance)
    share = epsilon * variance / whole_number("draws", draws, low=1, high=MOST_DRAWS)
    return share / 4 if share <= 4 else math.sqrt(share) - 1


def printed_norm_bound(prior_precision: float) -> float:
    """Return 10/sqrt(b), the norm bound of [Zhang16] Figure 2: ten of the prior's standard deviations."""
    return 10 / math.sqrt(PRIOR_PRECISION.checked("prior_precision", prior_precision))


def _require_scaled(statistic: Moments) -> None:
    # Every scaled record has ||x||^2 <= 1 and y^2 <= 1, so neither total exceeds n.
    most = statistic.n * (1 + 1e-9)
    squares = np.trace(statistic.gram, axis1=-2, axis2=-1)
    if np.any(squares > most) or np.any(statistic.square > most):
        raise InputError("These moments are not those of scaled records. Scale the table by its public bounds first.")
