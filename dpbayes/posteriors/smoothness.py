"""The smoothness assumptions: bounds on the change of a likelihood by one record, and their prior probability.

Distances between likelihoods are |ln p(x) - ln p(y)|. Assumption 1 requires a constant L with |ln p(x) - ln p(y)| <= L
rho(x, y) at every parameter. Assumption 2 requires a constant c such that the prior mass of the parameters without
constant L is at most exp(-c L), for all L >= L0. A factor of the likelihood without the parameter cancels in the
posterior, so both assumptions may be checked without it. Both hold for n independent records with the same constant if
distances add over records; [Dimitrakakis14] Lemma 1 states L n and c/n, which are n times too weak.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.model.network import Network
from dpbayes.posteriors.divergence import expm1_excess, log1p_excess
from dpbayes.posteriors.trimmed import log_mass_between

_MOST = 1e12
"""The largest accepted rate, concentration or threshold."""


# Networks, Assumption 1


def network_log_ratio_bound(constants: ArrayLike, distances: ArrayLike) -> float:
    """Return sum_i L_i rho_i, which bounds |ln p(x) - ln p(y)| of a network. [Zhang16] Lemma 2.

    `constants` are the nodes' L_i, `distances` their rho_i between the two records, each (|I|,).

    The paper states ||L||_inf ||rho||_1, where rho_i is a distance of x_i and y_i only. This is valid but vacuous for
    every node with a parent: equal x_i under different parents have distance 0 and would need equal probabilities.
    Correct: rho_i is a distance of the family's values (x_i, x_parents). The sum is never larger than the stated
    product.
    """
    values, apart = np.asarray(constants, dtype=np.float64), np.asarray(distances, dtype=np.float64)
    if values.ndim != 1 or values.shape != apart.shape:
        raise InputError("Give one Lipschitz constant and one distance for every node.")
    if not (np.all(values >= 0) and np.all(apart >= 0)):
        raise InputError("Lipschitz constants and distances cannot be negative.")
    return float(values @ apart)


def discrete_log_ratio_bound(least: float, states: int = 2) -> float:
    """Return L = ln((1 - (r - 1) w)/w) for a node of r states with probabilities of at least w; L is attained.

    [Dimitrakakis14] Lemma 7 states ln(1/w), which is larger. With `hamming_weights`, L bounds a whole network. Errors:
    InputError unless 0 < w <= 1/r.
    """
    if states < 1:
        raise InputError("A node needs at least one state.")
    w = finite_number("The least probability", least, low=5e-324, high=1 / states)
    return max(0.0, math.log1p(-(states - 1) * w) - math.log(w))


def regression_log_ratio(norm_bound: ArrayLike, *, noise_variance: ArrayLike = 1.0) -> FloatArray:
    """Return the largest change of a regression's log density by one replaced record if ||w|| <= `norm_bound`: (...).

    With B = `norm_bound` and ||x||, |y| <= 1 it is ((1 + B)^2 - max(0, 1 - B)^2)/sigma^2: 4 B/sigma^2 up to B = 1, then
    (1 + B)^2/sigma^2. Over the ball, a squared residual has a range of at most (1 + B)^2 - max(0, 1 - B)^2. A
    log-likelihood has half this range over sigma^2, and a replacement changes two of them. [Zhang16] Appendix D,
    corrected.
    """
    b = np.asarray(norm_bound, dtype=np.float64)
    return np.where(b <= 1, 4 * b, (1 + b) ** 2) / np.asarray(noise_variance, dtype=np.float64)


def hamming_weights(network: Network) -> IntArray:
    """Return 1 + (number of children) of every node: (|I|,), for rho(x, y) = sum of the weights where x and y differ.

    [Dimitrakakis14] Lemma 7 states weights of 1. A counterexample is X -> Y with CPT entries .1 and .9, where one
    changed value changes ln p by 4.394 > ln 10. The proof of the lemma has 1 + degree. Correct: a value occurs in its
    own term and in those of its children.
    """
    children = dict.fromkeys(network.names, 0)
    for parent, _ in network.edges:
        children[parent] += 1
    return np.array([1 + children[name] for name in network.names], dtype=np.int64)


# Networks, Assumption 2


def network_concentration(constants: ArrayLike, start: float) -> float:
    """Return c' = min_i c_i - ln|I| / L0 for a network whose nodes satisfy Assumption 2 with c_i. [Zhang16] Lemma 3.

    The lemma is stated for |I| <= exp(L0 min c). With equality, c' = 0 is vacuous, so this case is refused. The
    appendix's c' = ln|I| min c is wrong: at |I| = 3, c = (1, 2, 3), L = 5 the union bound is .00678 > exp(-c' L) =
    .0041. The distances must be those of `network_log_ratio_bound`; otherwise no continuous prior satisfies the
    assumption. Errors: InputError when |I| >= exp(L0 min c), that is when L0 is too small.
    """
    values = np.asarray(constants, dtype=np.float64)
    if values.ndim != 1 or not values.size or not np.all(values > 0):
        raise InputError("Give one positive concentration for every node.")
    threshold = finite_number("L0", start, low=1e-12, high=_MOST)
    least = float(values.min())
    needed = math.log(values.size) / least
    if threshold <= needed:
        raise InputError(
            f"L0 must be above ln|I| / min c = {numeral(needed, 4)} for the network; {numeral(threshold, 6)} is not."
        )
    return least - math.log(values.size) / threshold


def beta_concentration(a: float) -> float:
    """Return the largest c for all L >= 0 of a Bernoulli under Beta(a, a): 4^(1-a) / (2 B(a, a)), about sqrt(a/pi).

    [Dimitrakakis14] Lemma 5 states c = O(a), with rho = |x - y| and the binomial coefficient. With the coefficient, no
    parameter has a constant L < ln n, and no c exists. Correct: the coefficient cancels, and the parameters with
    constant L are |logit theta| <= L. For the remaining mass, -ln is convex in L, so c is its slope at 0, which is the
    same for every n.
    """
    value = finite_number("a", a, low=1e-9, high=_MOST)
    return math.exp((1 - value) * math.log(4) - math.log(2) - float(special.betaln(value, value)))


def beta_concentration_from(a: float, start: float, *, trials: int = 1) -> float:
    """Return the largest c for all L >= L0: -ln(2 I_z(a, a)) / L0, z = n/(n + exp(L0)). [Dimitrakakis14] Lemma 5.

    The paper states ln(1/v) + a with v = 2 n^a / (a B(a, a)), which lacks a division by L and is negative for most a
    and n. The returned value is correct for n = `trials` with the binomial coefficient; without the coefficient, n = 1
    is correct for all n. The value is linear in a for large a. Errors: InputError unless L0 > ln n.
    """
    value = finite_number("a", a, low=1e-9, high=_MOST)
    threshold = finite_number("L0", start, low=1e-12, high=1e6)
    if trials < 1 or threshold <= math.log(trials):
        raise InputError(f"L0 must be above ln n, for n = {trials} trials; {numeral(threshold, 6)} is not.")
    # By symmetry 2 I_z is the mass beyond the edge divided by the mass beyond even odds; the far end omits no mass.
    edge = threshold - math.log(trials)
    far = edge + 50 / value + 50
    half = log_mass_between(value, value, -far, 0.0)
    inside = math.exp(float(log_mass_between(value, value, -edge, 0.0) - half))
    if inside < 0.5:
        return -math.log1p(-inside) / threshold
    return float(half - log_mass_between(value, value, -far, -edge)) / threshold


def exponential_concentration(rate: float) -> float:
    """Return c = lambda for Exp(theta) records, theta ~ Exp(lambda), rho = |x - y|. [Dimitrakakis14] Lemma 3.

    The lemma holds as stated, with equality: the parameters with constant L are (0, L]. It holds for any number of
    records.
    """
    return finite_number("lambda", rate, low=1e-12, high=_MOST)


def laplace_concentration(rate: float) -> float:
    """Return c = lambda for Laplace(mu, s) records with 1/s ~ Exp(lambda), rho = |x - y|. [Dimitrakakis14] Lemma 4.

    The lemma states s >= L for the parameters with constant L; s >= 1/L is correct. The prior of mu is arbitrary.
    """
    return finite_number("lambda", rate, low=1e-12, high=_MOST)


def normal_concentration(rate: float, *, mean_bound: float = 0.0) -> float:
    """Return c = 2 lambda / max(M, 1) for N(mu, 1/tau), tau ~ Exp(lambda), |mu| <= M; rho = |x^2 - y^2| + 2|x - y|.

    [Dimitrakakis14] Lemma 6 states c = lambda with variance ~ Exp(lambda). This is false: the mass without L is 1 -
    exp(-lambda max(|mu|, 1) / (2 L)), .0952 > exp(-5) at L = 5, lambda = 1, mu = 0. The returned value is correct for
    the precision. Without a bound on the mean, no c exists.
    """
    bound = finite_number("The bound of the mean", mean_bound, low=0.0, high=_MOST)
    return 2 * finite_number("lambda", rate, low=1e-12, high=_MOST) / max(bound, 1.0)


# Consequences of Assumption 1


def kl_bound_sharp(eta: ArrayLike) -> FloatArray:
    """Return the largest KL divergence of two distributions whose log ratio has a range of eta = 2 L rho, elementwise.

    f = r - 1 - ln r with r = eta / (exp(eta) - 1); about eta^2/8 for small eta. [Dimitrakakis14] Theorem 1(i) states 2
    L rho, which is valid and up to 8/eta times larger. Errors: InputError for negative or infinite eta.
    """
    eta = np.asarray(eta, dtype=np.float64)
    if not (np.all(eta >= 0) and np.all(np.isfinite(eta))):
        raise InputError("The range of a log ratio must be a finite number that is not negative.")
    small = np.where((eta > 0) & (eta < 1), eta, 0.5)
    near = log1p_excess(-expm1_excess(small) / np.expm1(small))
    large = np.maximum(eta, 1.0)
    rest = -np.expm1(-large)
    log_r = np.log(large) - large - np.log(rest)
    return np.where(eta == 0, 0.0, np.where(eta < 1, near, np.expm1(log_r) - log_r))
