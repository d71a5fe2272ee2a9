"""Posterior sampling of regression weights: Appendix D of [Zhang16], per record.

The log-likelihood of a record is f(w) = -(y - x'w)^2 / (2 sigma^2), with ||x|| <= 1, |y| <= 1 and ||w|| <= B.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.gaussian import log_interval_mass
from dpbayes.posteriors.smoothness import regression_log_ratio
from dpbayes.theory.claims.claim import LOSS_TEXT, Assumption, Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import Exhibit, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

# The gradient


def gradient(w: ArrayLike, *, x: ArrayLike, y: float, noise_variance: float = 1.0) -> FloatArray:
    """Return (df/dx, df/dy) = (y - x'w)/sigma^2 (w, -1): (d + 1,). [Zhang16] Appendix D, the gradient."""
    weights, features = np.asarray(w, dtype=np.float64), np.asarray(x, dtype=np.float64)
    return (y - features @ weights) / noise_variance * np.append(weights, -1.0)


def printed_gradient(w: ArrayLike, *, x: ArrayLike, y: float) -> FloatArray:
    """Return (x w'w - y w, y - x'w)/2 as printed, for sigma = 1: (d + 1,). [Zhang16] Appendix D, the gradient.

    Wrong in sign, by a factor of 2, and in (x'w) w, which is not x w'w.
    """
    weights, features = np.asarray(w, dtype=np.float64), np.asarray(x, dtype=np.float64)
    first = features * (weights @ weights) - y * weights
    return np.append(first, y - features @ weights) / 2


def counterexample_gradient() -> Counterexample:
    """Return how steep f is along the record, and the printed gradient's norm. [Zhang16] Appendix D, the gradient."""
    w, x, y = (0.3, -0.7), (0.1, 0.25), 0.2
    true = float(np.linalg.norm(gradient(w, x=x, y=y)))
    return Counterexample(
        GRADIENT,
        "w = (.3, -.7), x = (.1, .25), y = .2, sigma = 1",
        truth=true,
        printed=float(np.linalg.norm(printed_gradient(w, x=x, y=y))),
        certified=true,
        unit="nats per unit of the record",
    )


def gradient_norm(norm_bound: ArrayLike, *, features: int, noise_variance: float = 1.0) -> Bound:
    """Return the largest norm of one record's gradient over the ball, for B = `norm_bound` (...).

    [Zhang16] Appendix D, the norm of the gradient. Printed (1 + 2 ||w||_1 + d ||w||_2)/(2 sigma^2) for n = 1, at its
    largest over the ball; certified, and attained, (1 + B) sqrt(1 + B^2)/sigma^2. Records are at most 2 sqrt(2) apart.
    """
    b = np.asarray(norm_bound, dtype=np.float64)
    return Bound(
        NORM,
        _printed_constant(b, 1, features, noise_variance),
        (1 + b) * np.sqrt(1 + b * b) / noise_variance,
        "nats per unit of the record",
    )


def _steepest(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find the gradient at the record and the weights where it is longest."""
    slope = gradient([at.knobs.norm_bound], x=[-1.0], y=1.0, noise_variance=at.knobs.noise_variance)
    return np.linalg.norm(slope)


def _gradient_norm_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    knobs = at.knobs
    b, d, variance = f"{knobs.norm_bound:g}", f"{knobs.features:g}", f"{knobs.noise_variance:g}"
    return f"""
- One record with $d = {d}$ features in the unit ball, $|y| \\le 1$; weights $\\|w\\|_2 \\le B = {b}$;
  $\\sigma^2 = {variance}$.
- **As stated**, at its largest over the ball: $\\frac{{1}}{{2\\sigma^2}}(1 + 2\\sqrt d\\,B + d\\,B) =
  \\frac{{1}}{{2 \\cdot {variance}}}(1 + 2\\sqrt{{{d}}} \\cdot {b} + {d} \\cdot {b}) = {bound.stated}$.
- **Proved**: $\\frac{{1}}{{\\sigma^2}}(1 + B)\\sqrt{{1 + B^2}} = {bound.proved}$.
- **Exact**: the gradient where $w = (B, 0, \\dots)$, $x = (-1, 0, \\dots)$ and $y = 1$.
"""


def counterexample_norm(norm_bound: float = 3.0) -> Counterexample:
    """Return the true norm at x = 1, y = -1, w = B, d = 1. [Zhang16] Appendix D, the norm of the gradient."""
    bound = gradient_norm(norm_bound, features=1)
    return Counterexample.of(
        bound,
        f"One feature, x = 1, y = -1, w = B = {norm_bound:g}, sigma = 1, n = 1",
        truth=float(np.linalg.norm(gradient([norm_bound], x=[1.0], y=-1.0))),
    )


# The loss


def appendix_d(n: int, *, norm_bound: ArrayLike, features: int, noise_variance: float = 1.0, draws: int = 1) -> Bound:
    """Return the privacy loss of draws from the posterior cut to ||w|| <= B = `norm_bound` (...). [Zhang16] Appendix D.

    Printed 2 L(w) at its largest over the ball, (n/sigma^2)(1 + 2 sqrt(d) B + d B), for one draw. Certified
    N ((1 + B)^2 - max(0, 1 - B)^2)/sigma^2: over the ball the square of a record's residual varies by no more than
    that, its log-likelihood by half of it over sigma^2, and a replacement has two records. Neither needs a prior.
    """
    b = np.asarray(norm_bound, dtype=np.float64)
    return Bound(
        APPENDIX_D,
        2 * _printed_constant(b, n, features, noise_variance),
        draws * regression_log_ratio(b, noise_variance=noise_variance),
        "nats of privacy loss",
        assumptions=(
            Assumption("The weights' norm is at most 1", bool(np.all(b <= 1))),
            Assumption("One sample is released", draws == 1),
        ),
    )


def _appendix_d_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    knobs = at.knobs
    b, d, n, variance = (f"{value:g}" for value in (knobs.norm_bound, knobs.features, knobs.size, knobs.noise_variance))
    apart = number(2 * math.sqrt(2) * float(bound.printed[0]))
    return f"""
- $n = {n}$ records with $d = {d}$ features in the unit ball, $|y| \\le 1$, $\\|w\\|_2 \\le B = {b}$, $\\sigma^2 =
  {variance}$. In the ball, $\\|w\\|_1$ is at most $\\sqrt d\\,B$.
- **As stated**, for one sample: $\\frac{{n}}{{\\sigma^2}}(1 + 2\\sqrt d\\,B + d\\,B) =
  \\frac{{{n}}}{{{variance}}}(1 + 2\\sqrt{{{d}}} \\cdot {b} + {d} \\cdot {b}) = {bound.stated}$ nats. As
  $2 L \\rho$ with records at distance $\\rho = 2\\sqrt 2$, the bound is ${apart}$.
- **Proved**, for $N = {at.draws}$: ${_certified_range(at, at.draws)} = {bound.proved}$ nats, {_case(at)}, for any $n$
  and $d$.
- **Exact**: {_pair(at, knobs.features)}
"""


def counterexample_appendix_d(norm_bound: float = 10.0) -> Counterexample:
    """Return the exact loss of one draw between x = 0 and x = 1, y = -1, for n = 1 record. [Zhang16] Appendix D.

    Prior N(0, 1) cut to |w| <= B, sigma = 1; the loss at w = B. Printed is 2 L rho with rho = sqrt(2), the distance of
    the records (0, 0) and (1, -1); 2 L itself is smaller still.
    """
    b, bound = norm_bound, appendix_d(1, norm_bound=norm_bound, features=1)
    # ln p(w | D) = -(p w^2/2 - h w) - ln Z with (p, h) = (1, 0) and (2, -1).
    loss = (b * b / 2 + b) - float(log_interval_mass(1.0, 0.0, b) - log_interval_mass(2.0, -1.0, b))
    return Counterexample(
        APPENDIX_D,
        f"n = 1, one feature, B = {b:g}: the record (x, y) = (0, 0) against (1, -1), loss at w = B",
        truth=loss,
        printed=math.sqrt(2) * float(bound.printed),
        certified=float(bound.certified),
        unit="nats of privacy loss",
    )


def proportionality(norm_bound: ArrayLike, *, noise_variance: float = 1.0) -> Bound:
    """Return the loss of one draw if it were proportional to B, and as it is, for B (...). [Zhang16] Section 5.2.

    Printed 4 B/sigma^2, the slope at 0; certified as in `appendix_d`.
    """
    return Bound(
        PROPORTIONAL,
        4 * np.asarray(norm_bound, dtype=np.float64) / noise_variance,
        appendix_d(0, norm_bound=norm_bound, features=1, noise_variance=noise_variance).certified,
        "nats of privacy loss",
    )


def _proportionality_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    b, variance = f"{at.knobs.norm_bound:g}", f"{at.knobs.noise_variance:g}"
    return f"""
- The paper states no constant of proportionality. The constant that is right for small $B$ is used here.
- **As stated**: $4B/\\sigma^2 = 4 \\cdot {b}/{variance} = {bound.stated}$ nats.
- **Proved**, for one sample: ${_certified_range(at, 1)} = {bound.proved}$ nats, {_case(at)}.
- **Exact**: {_pair(at, 2)}
"""


def worst_range(at: EvaluationPoint, *, features: int) -> FloatArray:
    """Return by how much the log-likelihood ratio of two records varies over the ball: (1,).

    The loss of a sample tends to this range under a prior whose mass concentrates where the ratio is least. Both
    records have y = -1 and a feature vector of length 1. One vector is the negative of the other for B <= 1 or one
    feature. For larger B and two features or more, their cosine c is -1/B. No two records have a larger range, except
    possibly for B > 1 and one feature. [Zhang16] Appendix D.

    The ratio is p (2 + q)/(2 sigma^2) with p and q along the difference and the sum of the feature vectors, which are
    orthogonal: p = B sqrt(2 - 2c) cos(t), q = B sqrt(2 + 2c) sin(t) on the sphere. It is largest at k sin^2(t) +
    sin(t) = k/2 with k = B sqrt(2 + 2c), and its sign changes with that of p.
    """
    b = at.knobs.norm_bound
    cosine = -1 / b if features > 1 and b > 1 else -1.0
    k = b * math.sqrt(2 + 2 * cosine)
    sine = k / (1 + math.sqrt(1 + 2 * k * k))
    largest = b * math.sqrt(2 - 2 * cosine) * math.sqrt(1 - sine * sine) * (1 + k * sine / 2)
    return np.array([2 * largest / at.knobs.noise_variance])


def _certified_range(at: EvaluationPoint, draws: int) -> str:
    b, variance = f"{at.knobs.norm_bound:g}", f"{at.knobs.noise_variance:g}"
    symbol, times = ("N \\cdot ", f"{draws} \\cdot ") if draws > 1 else ("", "")
    if at.knobs.norm_bound <= 1:
        return f"{symbol}4B/\\sigma^2 = {times}4 \\cdot {b}/{variance}"
    return f"{symbol}(1 + B)^2/\\sigma^2 = {times}(1 + {b})^2/{variance}"


def _case(at: EvaluationPoint) -> str:
    return "as $B \\le 1$" if at.knobs.norm_bound <= 1 else "as $B > 1$"


def _pair(at: EvaluationPoint, features: int) -> str:
    b = at.knobs.norm_bound
    turned = "replaced by $-x$" if b <= 1 or features == 1 else "replaced by an $x^*$ with $x'x^* = -1/B$"
    short = " With one feature, this pair does not have the largest loss." if b > 1 and features == 1 else ""
    return (
        "tables that differ in one record: $y = -1$ and a feature vector of length 1, or the same record with $x$ "
        f"{turned}. Under a prior with nearly all its mass at one point of the ball, the loss is the range of their "
        f"log-likelihood ratio.{short}"
    )


def counterexample_proportionality(norm_bound: float = 10.0) -> Counterexample:
    """Return an exact loss at B, above what is proportional to the loss at B = 1 there. [Zhang16] Section 5.2."""
    example = counterexample_appendix_d(norm_bound)
    return Counterexample.of(proportionality(norm_bound), example.setting, truth=example.truth)


def _printed_constant(b: FloatArray, n: int, features: int, variance: float) -> FloatArray:
    """L(w) = n (1 + 2 ||w||_1 + d ||w||_2)/(2 sigma^2) at its largest: ||w||_2 = B, ||w||_1 = sqrt(d) B."""
    return n / (2 * variance) * (1 + 2 * math.sqrt(features) * b + features * b)


GRADIENT = Claim(
    Reference("Zhang16", "Appendix D, the gradient"),
    "The likelihood of a regression has the stated gradient",
    r"\partial f/\partial x_j = \tfrac{1}{2\sigma^2}(x_j w^\top w - y w_j), \quad "
    r"\partial f/\partial y = \tfrac{1}{2\sigma^2}(y - w^\top x)",
    Verdict.FALSE,
    "The gradient is (y - w'x) (w, -1)/σ². The stated gradient has the wrong sign and half the size, and it "
    "contains x_j w'w in place of (w'x) w_j.",
    page="Lab: Regression",
)
NORM = Claim(
    Reference("Zhang16", "Appendix D, the norm of the gradient"),
    "The likelihood of a regression changes little with a record",
    r"\|\nabla f\|_2 \le \tfrac{n}{2\sigma^2}(1 + 2\|w\|_1 + d\|w\|_2)",
    Verdict.FALSE,
    "The paper sums signed terms in place of a norm. The largest norm of the gradient of one record is (1 + "
    "B) √(1 + B²)/σ².",
)
APPENDIX_D = Claim(
    Reference("Zhang16", "Appendix D"),
    "A sample of the weights of a regression is 2L(w)-private",
    r"2 L(w) = \tfrac{n}{\sigma^2}(1 + 2\|w\|_1 + d\|w\|_2)",
    Verdict.FALSE,
    "The factor n counts every record although only one record is replaced, so the bound is never below n/σ². "
    "The bound fails for few records and a large ball. The loss is at most 4 B/σ² for B up to 1 and (1 + "
    "B)^2/σ² above.",
)
PROPORTIONAL = Claim(
    Reference("Zhang16", "Section 5.2"),
    "The loss of a regression is proportional to the bound of its weights",
    r"\epsilon \propto B",
    Verdict.AMENDED,
    "The claim holds up to B = 1. Above 1 the loss grows with the square of 1 + B. Records must first be scaled to "
    "the unit ball.",
)
LEMMA_D1 = Claim(
    Reference("Zhang16", "Lemma D.1"),
    "A truncated Gaussian prior gives such a posterior",
    r"p(w \mid D) \propto N(w \mid \mu_n, \Sigma_n) \mathbf 1\{\|w\|_2 \le 1\}",
    Verdict.HOLDS,
    "μₙ and Σₙ are the parameters of the Gaussian before truncation.",
    page="Lab: Regression",
)

EXHIBITS: dict[str, Exhibit] = {
    "APPENDIX_D": Exhibit(
        APPENDIX_D,
        lambda subject, at: flat(
            appendix_d(
                at.knobs.size,
                norm_bound=at.knobs.norm_bound,
                features=at.knobs.features,
                noise_variance=at.knobs.noise_variance,
                draws=at.draws,
            )
        ),
        _appendix_d_formula,
        (Axis.NORM_BOUND,),
        *LOSS_TEXT,
        also=("bounds.features", "bounds.noise_variance", "bounds.size", "draws"),
        measure=exact_value(
            "exact loss of two tables", lambda subject, at: at.draws * worst_range(at, features=at.knobs.features)
        ),
    ),
    "GRADIENT": Exhibit(
        NORM,
        lambda subject, at: flat(
            gradient_norm(at.knobs.norm_bound, features=at.knobs.features, noise_variance=at.knobs.noise_variance)
        ),
        _gradient_norm_formula,
        (Axis.NORM_BOUND,),
        "a norm of the gradient of at most {}",
        "norm of the gradient, nats per unit of the record",
        also=("bounds.features", "bounds.noise_variance"),
        measure=exact_value("largest exact norm", _steepest),
        defaults=(("norm_bound", 5.0),),
    ),
    "PROPORTIONAL": Exhibit(
        PROPORTIONAL,
        lambda subject, at: flat(proportionality(at.knobs.norm_bound, noise_variance=at.knobs.noise_variance)),
        _proportionality_formula,
        (Axis.NORM_BOUND,),
        *LOSS_TEXT,
        also=("bounds.noise_variance",),
        measure=exact_value("exact loss of two tables", lambda subject, at: worst_range(at, features=2)),
        defaults=(("norm_bound", 3.0),),
    ),
}
