"""How often the intervals of posteriors contain the truth: `python -m benchmarks.calibration`.

Without options, the command writes the tables of `docs/calibration.md` and `docs/limits.md` from the stored results.
`--measure NAME` repeats a measurement and replaces its results in `calibration.jsonl`, one line for each setting, with
the seed and the number of releases.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from benchmarks.ranks import Trial, as_real, drawn_counts, ranks, row_wise, together
from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Noise,
)
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.sources.named_networks import chain, load_named, naive_bayes
from tests.posteriors.table_chains import exact_posterior

ROOT = Path(__file__).parent.parent
STORE = Path(__file__).with_suffix(".jsonl")
DOCUMENTS = (ROOT / "docs" / "calibration.md", ROOT / "docs" / "limits.md")

LEVELS = (0.5, 0.8, 0.95)
"""Levels of the central intervals whose coverage is reported."""

SEED = 1
RELEASES, JOINT_RELEASES, DECISIONS, SWEEPS = 1000, 150, 120, 1500

Line = Mapping[str, Any]
"""A stored result: its measure, setting, seed and number of releases, and the measured numbers."""


# Settings


def ternary_tree() -> Dirichlets:
    """Return the uniform prior of a tree of five nodes with three states."""
    names = [f"v{k}" for k in range(5)]
    above = [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v1", "v4")]
    return Dirichlets.symmetric(Network.from_edges(names, above, dict.fromkeys(names, "abc")))


def mixed_states(second: str = "xy") -> Dirichlets:
    """Return the uniform prior of a diamond whose nodes have 3, 2, 2 and 4 states."""
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    return Dirichlets.symmetric(
        Network.from_edges("abcd", edges, {"a": "xyz", "b": tuple(second), "c": "01", "d": "0123"})
    )


def row_wise_settings() -> tuple[Trial, ...]:
    """Return the settings of the row-wise posterior, with 1 or 0.3 in every cell of the prior."""
    asia, six = Dirichlets.symmetric(load_named("asia")[0]), chain(6)
    mixed, whole, stated = mixed_states("x"), Noise.WHOLE, Calibration.AS_PRINTED
    return (
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 50),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=0.1), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=10.0), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=100.0), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 100_000),
        Trial("Asia, whole Laplace", LaplaceUpdates(prior=asia, epsilon=1.0, noise=whole), 1000),
        Trial("Asia, Fourier", LaplaceFourier(prior=asia, epsilon=1.0), 1000),
        Trial("Asia, Fourier as stated", LaplaceFourier(prior=asia, epsilon=3.0, calibration=stated), 1000),
        Trial("chain of 6, Fourier", LaplaceFourier(prior=six, epsilon=0.1), 1000),
        Trial("chain of 6, Laplace", LaplaceUpdates(prior=six, epsilon=1.0), 1000),
        Trial("chain of 6, 0.3 per cell", LaplaceUpdates(prior=Dirichlets.symmetric(six, 0.3), epsilon=1.0), 200),
        Trial("ternary tree, Laplace", LaplaceUpdates(prior=ternary_tree(), epsilon=1.0), 1000),
        Trial("mixed states, Laplace", LaplaceUpdates(prior=mixed, epsilon=0.3), 300),
        Trial("naive Bayes 16, Laplace", LaplaceUpdates(prior=naive_bayes(16), epsilon=1.0), 1000),
        Trial("Asia, consistent Laplace", ConsistentLaplace(prior=asia, epsilon=1.0), 1000),
        Trial("mixed states, Gaussian", GaussianUpdates(prior=mixed, epsilon=1.0), 1000),
        Trial("mixed states, Gaussian residuals", GaussianResiduals(prior=mixed, epsilon=1.0, noise=whole), 1000),
        Trial("two nodes, whole Laplace", LaplaceUpdates(prior=chain(2), epsilon=0.3, noise=whole), 50),
    )


def joint_settings() -> tuple[Trial, ...]:
    """Return the settings of the joint posterior."""
    diamond = Network.from_edges("abcd", [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    four, mixed, wide = chain(4), mixed_states(), Dirichlets.capped(mixed_states().network)
    return (
        Trial("chain of 4, Laplace", LaplaceUpdates(prior=Dirichlets.symmetric(four), epsilon=0.1), 50),
        Trial("chain of 4, Fourier", LaplaceFourier(prior=Dirichlets.symmetric(four), epsilon=1.0), 1000),
        Trial("chain of 4, 0.3 per cell", LaplaceUpdates(prior=Dirichlets.symmetric(four, 0.3), epsilon=0.5), 1000),
        Trial("diamond, Laplace", LaplaceUpdates(prior=Dirichlets.symmetric(diamond), epsilon=1.0), 1000),
        Trial("diamond, Gaussian", GaussianUpdates(prior=Dirichlets.symmetric(diamond), epsilon=1.0), 10_000),
        Trial("mixed states, Laplace", LaplaceUpdates(prior=mixed, epsilon=0.5), 50),
        Trial("mixed states, capped, Laplace", LaplaceUpdates(prior=wide, epsilon=1.0), 1000),
        Trial("mixed states, capped, Gaussian residuals", GaussianResiduals(prior=wide, epsilon=1.0), 1000),
    )


# Measurements


def row_wise_coverage(settings: tuple[Trial, ...] | None = None, releases: int = RELEASES) -> Iterator[Line]:
    """Yield the coverage of naive and of row-wise intervals of cells, over truths from the prior."""
    for setting in settings or row_wise_settings():
        naive, aware = ranks(setting, (as_real, row_wise()), seed=SEED, releases=releases)
        yield _setting(setting, releases) | {
            "naive": _estimate(naive.coverage(0.95), 100),
            **{f"{level:.0%}": _estimate(aware.coverage(level), 100) for level in LEVELS},
            "spread": _estimate(aware.spread),
        }


def joint_coverage(settings: tuple[Trial, ...] | None = None, releases: int = JOINT_RELEASES) -> Iterator[Line]:
    """Yield the coverage of joint intervals of cells, over truths from the prior."""
    for setting in settings or joint_settings():
        (joint,) = ranks(setting, (together,), seed=SEED, releases=releases)
        yield _setting(setting, releases) | {
            **{f"{level:.0%}": _estimate(joint.coverage(level), 100) for level in LEVELS},
            "spread": _estimate(joint.spread),
        }


def prior_decisions(releases: int = DECISIONS) -> Iterator[Line]:
    """Yield how often intervals of one answer hold that sums over 32 alike rows, by prior and epsilon."""
    network, truth = clinical_network(), 0.72
    cpts = np.full((releases, network.cell_count), 0.5)
    cpts[:, :10] = np.repeat([1 / 2, 1 / 4, 1 / 4], [2, 4, 4])
    cpts[:, 10:] = np.tile([1 - truth, truth], 32)
    for (name, prior), epsilon in product(priors_of(network).items(), EPSILONS):
        rng = stream(SEED, "prior decisions", name, repr(epsilon))
        answers = _answers(prior, cpts, 228, epsilon, ("y",), rng)
        yield {"setting": name, "epsilon": epsilon, "seed": SEED, "releases": releases, **answers.shares}


EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)

KINDS = {"rows alike": 0.0, "rows different": 1.5, "rows from the prior": None}
"""How much the rows of a made-up node differ in log-odds; None for rows that are sampled from the prior."""

PUBLISHED = {"asia": 1000, "alarm": 10_000}
"""The numbers of records of tables that are sampled from published networks."""


def marks(releases: int = 4) -> Iterator[Line]:
    """Yield how often intervals hold, and how often they are marked, by network and epsilon, over three priors."""
    for name, n in PUBLISHED.items():
        network, cpts = load_named(name)
        number = releases if name == "alarm" else 6 * releases
        for epsilon in EPSILONS:
            yield _all_marks(
                network.names,
                name.capitalize(),
                epsilon,
                ((prior, np.tile(cpts, (number, 1)), n) for prior in priors_of(network).values()),
            )
    for (kind, spread), epsilon in product(KINDS.items(), EPSILONS):
        rng = stream(SEED, "made up", kind, repr(epsilon))
        yield _all_marks(("y",), kind, epsilon, _made_up_tables(spread, releases, rng))


def _all_marks(
    targets: tuple[str, ...], name: str, epsilon: float, tables: Iterable[tuple[Dirichlets, FloatArray, int]]
) -> Line:
    """Return how often the answers P(target) hold and are marked, over priors, CPTs and numbers of records."""
    rng = stream(SEED, "marks", name, repr(epsilon))
    parts = [_answers(prior, cpts, n, epsilon, targets, rng) for prior, cpts, n in tables]
    answers = _Answers(*(np.concatenate(of_all) for of_all in zip(*map(astuple, parts), strict=True)))
    number = len(answers.marked)
    return {"setting": name, "epsilon": epsilon, "seed": SEED, "releases": number, **answers.shares}


def _made_up_tables(
    spread: float | None, releases: int, rng: np.random.Generator
) -> Iterator[tuple[Dirichlets, FloatArray, int]]:
    """Yield priors, CPTs and numbers of records of made-up networks."""
    for parents, n in product(range(1, 7), (228, 2000)):
        for prior in priors_of(wide_network(parents)).values():
            yield prior, _made_up(prior, spread, releases, rng), n


def clinical_network() -> Network:
    """Return a binary node y with three parents of 2, 4 and 4 states."""
    states = {"sex": "01", "ecog": "0123", "time": "0123", "y": "01"}
    return Network.from_edges(states, [(name, "y") for name in ("sex", "ecog", "time")], states)


def wide_network(parents: int) -> Network:
    """Return a binary node y with so many binary parents."""
    names = [f"x{k}" for k in range(parents)]
    return Network.from_edges([*names, "y"], [(name, "y") for name in names])


def priors_of(network: Network) -> dict[str, Dirichlets]:
    """Return the compared priors of a network."""
    return {
        "1 in every cell": Dirichlets.symmetric(network),
        "capped, N' = 4": Dirichlets.capped(network),
        "BDeu, N' = 4": Dirichlets.bdeu(network, 4.0),
    }


def _made_up(prior: Dirichlets, spread: float | None, releases: int, rng: np.random.Generator) -> FloatArray:
    """Return CPTs with uniform parents, and rows around 0.5, 0.72 or 0.9 in turn, or from the prior."""
    network = prior.network
    first = int(network.cell_offsets[-2])
    cpts = np.full((releases, network.cell_count), 0.5)
    if spread is None:
        cpts[:, first:] = prior.sample(rng, (releases,))[:, first:]
        return cpts
    rows = (network.cell_count - first) // 2
    centre = special.logit(np.resize([0.5, 0.72, 0.9], releases))[:, None]
    of_y = special.expit(centre + spread * rng.standard_normal((releases, rows)))
    cpts[:, first::2], cpts[:, first + 1 :: 2] = 1 - of_y, of_y
    return cpts


@dataclass(frozen=True)
class _Answers:
    """The intervals of some answers, whether they are marked, the exact answers and the true probabilities."""

    low: FloatArray
    high: FloatArray
    marked: BoolArray
    exact: FloatArray
    truth: FloatArray

    def contains(self, value: FloatArray) -> BoolArray:
        return np.asarray((self.low <= value) & (value <= self.high))

    @property
    def shares(self) -> Line:
        """How many intervals hold and are marked, in percent; `false` is of those that hold, `missed` of misses."""
        holds = self.contains(self.exact)
        shares = {
            "exact": holds,
            "truth": self.contains(self.truth),
            "marked": self.marked,
            "false": self.marked[holds],
            "missed": ~self.marked[~holds],
            "unmarked exact": holds[~self.marked],
        }
        return {key: 100 * float(share.mean()) if share.size else None for key, share in shares.items()}


def _answers(
    prior: Dirichlets, cpts: FloatArray, n: int, epsilon: float, targets: tuple[str, ...], rng: np.random.Generator
) -> _Answers:
    """Return the answers P(target) from a Laplace release of a table of each CPTs, without the first states."""
    tables = Counts(prior.network, drawn_counts(prior.network, cpts, n, rng), n)
    posterior = LaplaceUpdates(prior=prior, epsilon=epsilon).simulate(tables, rng).joint_noise_aware()
    exact = prior.updated(tables)
    parts = []
    for target in targets:
        answer = posterior.query(target, interval=0.95)
        truth = query(prior.network, cpts, target, {})
        columns = answer.low, answer.high, answer.is_of_prior, exact.query(target).mean, truth
        parts.append([column[:, 1:].ravel() for column in columns])
    return _Answers(*(np.concatenate(of_all) for of_all in zip(*parts, strict=True)))


def exact_errors(releases: int = 4) -> Iterator[Line]:
    """Yield the largest errors of both posteriors against Markov chains, in standard deviations of the chains."""
    for name, prior, n, epsilon in compared_settings():
        rng = stream(SEED, "exact errors", name, n, repr(epsilon))
        mechanism = LaplaceUpdates(prior=prior, epsilon=epsilon)
        tables = Counts(prior.network, drawn_counts(prior.network, prior.sample(rng, (releases,)), n, rng), n)
        release = mechanism.simulate(tables, rng)
        laws = {"joint": release.joint_noise_aware(), "row-wise": release.noise_aware()}
        errors: dict[str, list[tuple[float, float]]] = {key: [] for key in laws}
        for k, numbers in enumerate(release.outcome.numbers):
            exact = exact_posterior(prior, mechanism.noise_model, numbers, n, rng, sweeps=SWEEPS).law
            for key, law in laws.items():
                errors[key].append(_errors(law.part(k), exact))
        yield {
            "setting": name,
            "n": n,
            "epsilon": epsilon,
            "seed": SEED,
            "releases": releases,
            **{key: np.max(pairs, axis=0).tolist() for key, pairs in errors.items()},
        }


def compared_settings() -> Iterator[tuple[str, Dirichlets, int, float]]:
    """Yield names, priors, numbers of records and epsilons for which the chains converge."""
    v_structure = Network.from_edges("abc", [("a", "c"), ("b", "c")], {"a": "xyz", "b": "xy", "c": "xyz"})
    for concentration, n, epsilon in product((1.0, 0.3), (200, 1000), (0.3, 3.0)):
        prior = Dirichlets.symmetric(chain(4), concentration)
        yield f"chain of 4, {concentration:g} in every cell", prior, n, epsilon
    for epsilon in (1.0, 3.0):
        yield "a(3), b(2) to c(3), capped", Dirichlets.capped(v_structure), 1000, epsilon


def _errors(law: DirichletMixtures, exact: DirichletMixtures) -> tuple[float, float]:
    """Return the largest error of a cell's mean and of an end of its 95% interval."""
    ends = [np.abs(own - other) / exact.sd for own, other in zip(law.interval(), exact.interval(), strict=True)]
    return float((np.abs(law.mean - exact.mean) / exact.sd).max()), float(np.max(ends))


def _setting(setting: Trial, releases: int) -> dict[str, Any]:
    epsilon = float(setting.mechanism.certified.epsilon)
    return {"setting": setting.name, "n": setting.n, "epsilon": epsilon, "seed": SEED, "releases": releases}


def _estimate(estimate: Estimate, factor: float = 1) -> tuple[float, float]:
    return factor * float(estimate.value), factor * float(estimate.error)


MEASURES: dict[str, Callable[[], Iterator[Line]]] = {
    "row-wise": row_wise_coverage,
    "joint": joint_coverage,
    "prior decisions": prior_decisions,
    "marks": marks,
    "exact errors": exact_errors,
}
"""The measurements by name."""


def stored() -> list[Line]:
    """Return all stored results."""
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()]


def measure(name: str) -> None:
    """Repeat a measurement, and replace its results in the store."""
    others = [line for line in stored() if line["measure"] != name] if STORE.exists() else []
    lines = [*others, *({"measure": name, **line} for line in MEASURES[name]())]
    STORE.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


# Tables of documents


def _plus_minus(pair: list[float], digits: int) -> str:
    return f"{pair[0]:.{digits}f} ± {pair[1]:.{digits}f}"


def _coverage_cells(line: Line) -> list[str]:
    name = f"{line['setting']}, n = {line['n']:,}, ε = {numeral(line['epsilon'], 3)}"
    coverages = [_plus_minus(line[key], 1) for key in ("naive", "50%", "80%", "95%") if key in line]
    return [name, *coverages, _plus_minus(line["spread"], 3)]


def _decision_cells(line: Line) -> list[str]:
    return [line["setting"], numeral(line["epsilon"]), *_shares(line, "exact", "truth", *_MARK_SHARES)]


def _mark_cells(line: Line) -> list[str]:
    number = f"{line['releases']:,}"
    return [line["setting"], numeral(line["epsilon"]), number, *_shares(line, "exact", "unmarked exact", *_MARK_SHARES)]


def _shares(line: Line, *keys: str) -> list[str]:
    return ["-" if line[key] is None else f"{line[key]:.0f}" for key in keys]


def _error_cells(line: Line) -> list[str]:
    errors = [f"{error:.2f}" for key in ("joint", "row-wise") for error in line[key]]
    return [line["setting"], f"{line['n']:,}", numeral(line["epsilon"]), *errors]


_MARK_SHARES = "marked", "false", "missed"

_MARK_COLUMNS = "marked, %", "marked of those that hold, %", "unmarked of those that miss, %"

TABLES: dict[str, tuple[tuple[str, ...], Callable[[Line], list[str]]]] = {
    "row-wise": (("setting", "95%, naive", "50%", "80%", "95%", "spread"), _coverage_cells),
    "joint": (("setting", "50%", "80%", "95%", "spread"), _coverage_cells),
    "prior decisions": (
        ("prior", "ε", "contains exact answer, %", "contains 0.72, %", *_MARK_COLUMNS),
        _decision_cells,
    ),
    "exact errors": (
        ("network and prior", "n", "ε", "joint: mean", "joint: end", "row-wise: mean", "row-wise: end"),
        _error_cells,
    ),
    "marks": (
        ("network", "ε", "answers", "contains exact answer, %", "of unmarked ones, %", *_MARK_COLUMNS),
        _mark_cells,
    ),
}
"""The header of every table and its cells, by the measurement that the table shows."""

_MARKED = re.compile(r"(<!-- measured: ([a-z -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def table(name: str, lines: list[Line]) -> str:
    """Return the table of a measurement in Markdown."""
    header, cells = TABLES[name]
    rows = [header, ["---"] * len(header), *(cells(line) for line in lines if line["measure"] == name)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def written(text: str, lines: list[Line]) -> str:
    """Return a document with its marked tables written from stored results."""
    return _MARKED.sub(lambda part: f"{part[1]}{table(part[2], lines)}\n{part[4]}", text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibration", description=__doc__)
    parser.add_argument("--measure", choices=MEASURES, help="repeat a measurement and store its results")
    args = parser.parse_args()
    if args.measure:
        measure(args.measure)
    for path in DOCUMENTS:
        path.write_text(written(path.read_text(encoding="utf-8"), stored()), encoding="utf-8")


if __name__ == "__main__":
    main()
