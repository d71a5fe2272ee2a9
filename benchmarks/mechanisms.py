"""The mechanisms beyond added noise, and the auditor: each against a stated bound, and how their costs grow."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.core import slope, span
from benchmarks.record import Record, median_ms
from dpbayes.audit.registry import audit
from dpbayes.mechanisms import MapExponential, PosteriorSampler
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.regression import printed_norm_bound
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.model.regression import Moments
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.gaussian import sample_in_ball, weights_posterior
from dpbayes.posteriors.hellinger import Die
from dpbayes.sources.named_networks import naive_bayes

EPSILONS = np.linspace(0, 2, 41)


def hellinger_mechanisms(n: int, *, sides: int = 2) -> list[HellingerGlobal | HellingerLocal | HellingerSmooth]:
    die = Die((1.0,) * sides, n)
    return [
        HellingerGlobal(die=die, epsilon=1.0),
        HellingerLocal(die=die, epsilon=1.0),
        HellingerSmooth(die=die, epsilon=1.0, delta=1e-5),
    ]


def full_counts(network: Network, n: int = 50) -> Counts:
    return Counts(network, np.full(network.cell_count, n, dtype=np.int64), n)


def audits(*, n: int = 200, repeats: int = 3) -> list[Record]:
    """Time the exact audit of the Hellinger mechanisms: every pair of neighbours, every candidate, the whole curve."""
    return [
        Record(
            name=f"Exact audit, {mechanism.label}, m = 2, n = {n}",
            value=median_ms(partial(audit, mechanism, n=n, epsilons=EPSILONS), repeats=repeats),
            unit="ms",
            bound=200,
        )
        for mechanism in hellinger_mechanisms(n)
    ]


def trimmed_draws(*, draws: int = 10_000, features: int = 16, repeats: int = 5) -> list[Record]:
    """Time draws from the trimmed posterior of a naive Bayes network of features + 1 nodes."""
    network = naive_bayes(features)
    mechanism = PosteriorSampler(prior=Dirichlets.symmetric(network), epsilon=20.0, draws=draws)
    counts = full_counts(network)
    return [
        Record(
            name=f"{draws:,} trimmed draws of each row, naive Bayes of {features + 1} nodes",
            value=median_ms(lambda: mechanism.simulate(counts, np.random.default_rng(1)), repeats=repeats),
            unit="ms",
            bound=100,
        )
    ]


def cut_draws(*, draws: int = 20_000, weights: int = 14, n: int = 37_000, repeats: int = 3) -> list[Record]:
    """Time draws from a Gaussian cut to a ball, at every prior precision from 1 to 10^6: the slowest one counts."""
    rng = np.random.default_rng(2)
    features = rng.uniform(-1, 1, (n, weights)) / np.sqrt(weights)
    target = np.clip(features @ rng.uniform(-1, 1, weights) + rng.normal(0, 0.2, n), -1, 1)
    moments = Moments(features.T @ features, features.T @ target, np.asarray(target @ target), n)
    precisions = 10.0 ** np.arange(7)
    posteriors = [weights_posterior(moments, prior_precision=b, noise_variance=1.0) for b in precisions]
    took = [
        median_ms(
            partial(sample_in_ball, posterior, printed_norm_bound(b), np.random.default_rng(3), (draws,)),
            repeats=repeats,
        )
        for posterior, b in zip(posteriors, precisions, strict=True)
    ]
    return [
        Record(
            name=f"Draws of {weights} weights from a Gaussian cut to a ball, slowest of b = 1 to 10^6",
            value=1000 * draws / max(took),
            unit="draws/s",
            bound=10_000,
            least=True,
        )
    ]


def costs(
    *,
    throws: Sequence[int] = (1_000, 10_000, 100_000),
    audited: Sequence[int] = (50, 100, 200, 400),
    features: Sequence[int] = (12, 48, 192),
    repeats: int = 3,
) -> dict[str, tuple[Sequence[int], list[float]]]:
    """Return what is varied and the milliseconds it took, by the name of what was done."""
    times: dict[str, tuple[Sequence[int], list[float]]] = {}
    times["Hellinger law against n, m = 2"] = throws, [_law(n, sides=2, repeats=repeats) for n in throws]
    sides = (2, 3, 4, 5)
    times["Hellinger law against m, n = 40"] = sides, [_law(40, sides=m, repeats=repeats) for m in sides]
    times["Hellinger audit against n, m = 2"] = audited, [audits(n=n, repeats=repeats)[2].value for n in audited]
    networks = [naive_bayes(d) for d in features]
    cells = [network.cell_count for network in networks]
    for kind in (PosteriorSampler, MapExponential):
        times[f"200 releases against K, {kind.label}"] = cells, [_releases(kind, net, repeats) for net in networks]
    return times


def _law(n: int, *, sides: int, repeats: int) -> float:
    """Time the law of the smooth mechanism at one table, with nothing kept from before."""

    def law() -> np.ndarray:
        mechanism = hellinger_mechanisms(n, sides=sides)[2]
        return mechanism.log_pmf([n - n // 2, n // 2] + [0] * (sides - 2))

    return median_ms(law, repeats=repeats)


def _releases(kind: type[PosteriorSampler] | type[MapExponential], network: Network, repeats: int) -> float:
    mechanism, counts = kind(prior=Dirichlets.symmetric(network), epsilon=20.0), full_counts(network)
    return median_ms(lambda: mechanism.simulate(counts, np.random.default_rng(4), (200,)), repeats=repeats)


def slopes(measured: dict[str, tuple[Sequence[int], list[float]]]) -> list[Record]:
    """Return the exponent of each cost: 1 is linear."""
    return [
        Record(name=f"Slope, {name} ({span(sizes)})", value=slope(sizes, took), unit="")
        for name, (sizes, took) in measured.items()
    ]
