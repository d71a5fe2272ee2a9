"""How often the intervals of posteriors contain the truth: `python -m benchmarks.calibration`.

Without options, the command writes the tables of `docs/calibration.md` and `docs/limits.md` from the stored results.
`--measure NAME` repeats a measurement and replaces its results in `calibration.jsonl`, one line for each setting, with
the seed and the number of releases.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.ranks import Trial, as_real, ranks, row_wise, together
from dpbayes.base.estimates import Estimate
from dpbayes.base.text import numeral
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Noise,
)
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import chain, load_named, naive_bayes

ROOT = Path(__file__).parent.parent
STORE = Path(__file__).with_suffix(".jsonl")
DOCUMENTS = (ROOT / "docs" / "calibration.md", ROOT / "docs" / "limits.md")

LEVELS = (0.5, 0.8, 0.95)
"""Levels of the central intervals whose coverage is reported."""

SEED = 1
RELEASES, JOINT_RELEASES = 1000, 400

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
    diamond = Network.from_edges("abcd", ["ab", "ac", "bd", "cd"])
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


def _setting(setting: Trial, releases: int) -> dict[str, Any]:
    epsilon = float(setting.mechanism.certified.epsilon)
    return {"setting": setting.name, "n": setting.n, "epsilon": epsilon, "seed": SEED, "releases": releases}


def _estimate(estimate: Estimate, factor: float = 1) -> tuple[float, float]:
    return factor * float(estimate.value), factor * float(estimate.error)


MEASURES: dict[str, Callable[[], Iterator[Line]]] = {"row-wise": row_wise_coverage, "joint": joint_coverage}
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


TABLES: dict[str, tuple[tuple[str, ...], Callable[[Line], list[str]]]] = {
    "row-wise": (("setting", "95%, naive", "50%", "80%", "95%", "spread"), _coverage_cells),
    "joint": (("setting", "50%", "80%", "95%", "spread"), _coverage_cells),
}
"""The header of every table and its cells, by the measurement that the table shows."""

_MARKED = re.compile(r"(<!-- measured: ([a-z -]+) -->\n)(.*?)(\n<!-- end -->)", re.DOTALL)


def table(name: str, lines: list[Line]) -> str:
    """Return the table of a measurement in Markdown."""
    header, cells = TABLES[name]
    rows = [header, ["---"] * len(header), *(cells(line) for line in lines if line["measure"] == name)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def written(text: str, lines: list[Line]) -> str:
    """Return a document with its marked tables written from stored results."""
    return _MARKED.sub(lambda part: f"{part[1]}{table(part[2], lines)}{part[4]}", text)


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
