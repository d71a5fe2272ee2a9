"""How near synthetic records of a private release are to the table: `python -m benchmarks.utility`.

For every table, epsilon (at delta = 1e-5), method and seed: the mean total variation of all tables of one, two and
three columns, between 20,000 synthetic records and the records of the release; the AUC and accuracy, on held-out
records, of a logistic regression that learns from the synthetic records; processor time, without imports; and memory.
The releases are simulated. The results are stored in `utility.jsonl`, one release per line with its seed, so that
several runs add up. A test compares docs/utility.md with them. To measure a release anew, delete its line.

Neighbours. dpbayes protects the replacement of a record, the other packages the addition or removal of one. Replacing a
record is one removal and one addition, so the same guarantee of replacement needs half of their epsilon: "MST/2" is MST
at half of epsilon, and "MST" is MST at the same number, which is a weaker guarantee.
"""

import argparse
import io
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.own import DELTA
from benchmarks.own import METHODS as OWN
from benchmarks.plots import save_errors
from benchmarks.record import Record
from benchmarks.utility_tables import TABLES, Split
from dpbayes.model.dataset import Dataset

SYNTHETIC = 20_000
"""Synthetic records of a release."""

MOST_TRIPLES = 300
"""Tables of three columns that are compared, a fixed sample of all."""

EPSILONS = (0.1, 1.0, 10.0)

LONGEST = 3600
"""A program that takes more seconds on the clock fails."""

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks" / "utility.jsonl"
DPMM, SMARTNOISE = ROOT / ".venv-peers" / "bin" / "python", ROOT / ".venv-smartnoise" / "bin" / "python"


@dataclass(frozen=True)
class Program:
    """A method: a command that reads a table and writes synthetic records, and by what epsilon is multiplied."""

    command: tuple[str, ...]
    share: float = 1.0


@dataclass(frozen=True)
class Errors:
    """The mean total variation of all tables of one, two and three columns; seconds of a processor; megabytes.

    `classifiers` has [AUC, accuracy] by classifier; it is empty without scikit-learn, and the accuracy of the first
    releases is nan.
    """

    one_way: float
    two_way: float
    three_way: float
    seconds: float
    megabytes: float
    classifiers: dict[str, list[float]] = field(default_factory=dict)


def programs() -> dict[str, Program]:
    """Return all methods by name."""
    own = {name: Program((sys.executable, "-m", "benchmarks.own", name)) for name in OWN}
    smartnoise = str(Path(__file__).with_name("smartnoise.py"))
    dpmm = str(Path(__file__).with_name("peers.py"))
    peers = {name: (str(DPMM), dpmm, name) for name in ("MST", "AIM", "PrivBayes")}
    peers |= {f"{name} of smartnoise": (str(SMARTNOISE), smartnoise, name) for name in ("MST", "AIM")}
    halves = {f"{name}/2": Program(command, 0.5) for name, command in peers.items()}
    return own | halves | {name: Program(command) for name, command in peers.items()}


# One release


@cache
def split(table: str) -> Split:
    """Return a table of `TABLES`."""
    return TABLES[table](str(DPMM))


def synthesised(program: Program, table: str, epsilon: float, seed: int) -> tuple[Dataset, float, float]:
    """Return synthetic records, the seconds and the megabytes. Errors: SubprocessError where the program fails."""
    data, sent = split(table).train, io.BytesIO()
    cards = [len(states) for states in data.states]
    np.savez_compressed(sent, codes=data.codes, cards=cards, names=data.names, target=split(table).target)
    words = [f"{program.share * epsilon:g}", str(DELTA), str(seed), str(SYNTHETIC)]
    single = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    environment = os.environ | single
    answer = subprocess.run(
        [*program.command, *words],
        input=sent.getvalue(),
        stdout=subprocess.PIPE,
        check=True,
        env=environment,
        timeout=LONGEST,
    )
    result = np.load(io.BytesIO(answer.stdout))
    return Dataset(data.names, data.states, result["codes"]), float(result["seconds"]), float(result["megabytes"])


def total_variation(data: Dataset, synthetic: Dataset, columns: Sequence[int]) -> float:
    """Return the total variation of the tables of some columns."""
    cards = [len(data.states[j]) for j in columns]
    shares = []
    for table in (data, synthetic):
        places = np.ravel_multi_index(tuple(table.codes[:, j] for j in columns), cards)
        shares.append(np.bincount(places, minlength=math.prod(cards)) / table.n)
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def mean_variations(data: Dataset, synthetic: Dataset) -> tuple[float, float, float]:
    """Return the mean total variation of all tables of one and two columns, and of a sample of those of three."""
    places = range(len(data.names))
    triples = list(combinations(places, 3))
    sample = [triples[k] for k in np.random.default_rng(0).permutation(len(triples))[:MOST_TRIPLES]]
    one, two, three = (
        float(np.mean([total_variation(data, synthetic, columns) for columns in sets]))
        for sets in ([[j] for j in places], combinations(places, 2), sample)
    )
    return one, two, three


def predictions(own: Split, synthetic: Dataset) -> dict[str, list[float]]:
    """Return [AUC, accuracy] of a classifier that learns from synthetic records; nothing without scikit-learn."""
    if not DPMM.exists():
        return {}
    sent = io.BytesIO()
    cards, target = [len(states) for states in own.train.states], own.train.names.index(own.target)
    np.savez_compressed(sent, train=synthetic.codes, test=own.test.codes, cards=cards, target=target)
    script = Path(__file__).with_name("classifiers.py")
    answer = subprocess.run([str(DPMM), str(script)], input=sent.getvalue(), stdout=subprocess.PIPE, check=True)
    return dict(json.loads(answer.stdout))


def errors_of(table: str, epsilon: float, method: str, seed: int) -> Errors:
    """Return the errors of one release. Errors: SubprocessError where the program fails."""
    synthetic, seconds, megabytes = synthesised(programs()[method], table, epsilon, seed)
    own = split(table)
    scores = predictions(own, synthetic) if (method, "AUC") in COLUMNS.values() else {}
    return Errors(*mean_variations(own.train, synthetic), seconds, megabytes, scores)


# Many releases


@dataclass(frozen=True)
class Line:
    """One release of the benchmark."""

    table: str
    epsilon: float
    method: str
    seed: int


def stored() -> dict[Line, Errors]:
    """Return the stored results."""
    rows = [json.loads(text) for text in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    return {Line(**row["release"]): Errors(**row["errors"]) for row in rows}


def measured(line: Line) -> Errors | None:
    """Return the errors of a line, measured unless they are stored; None where the program fails."""
    if (errors := stored().get(line)) is not None:
        return errors
    try:
        errors = errors_of(**asdict(line))
    except subprocess.SubprocessError as error:
        print(f"{line} failed: {error}", file=sys.stderr)
        return None
    with RESULTS.open("a") as file:  # one write, so that two runs at once do not mix their lines
        file.write(json.dumps({"release": asdict(line), "errors": _rounded(asdict(errors))}) + "\n")
    return errors


def _rounded(value: Any) -> Any:
    """Return numbers with five significant digits, for a file that people read."""
    if isinstance(value, dict):
        return {name: _rounded(part) for name, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list) else float(f"{value:.5g}")


def lines(
    tables: Iterable[str], epsilons: Iterable[float], methods: Iterable[str], seeds: Iterable[int]
) -> Iterator[Line]:
    """Yield the lines of a run: all methods with the first seed before those with the next."""
    ways = [(table, epsilon, method) for table in tables for epsilon in epsilons for method in methods]
    for seed in seeds:
        yield from (Line(*way, seed) for way in ways)


def means(results: Mapping[Line, Errors]) -> dict[tuple[str, float, str], tuple[Errors, int]]:
    """Return the mean errors over the seeds, and how many seeds there are, by table, epsilon and method."""
    runs: dict[tuple[str, float, str], list[Errors]] = {}
    for line, errors in results.items():
        runs.setdefault((line.table, line.epsilon, line.method), []).append(errors)
    return {way: (_mean(own), len(own)) for way, own in runs.items()}


def _mean(runs: Sequence[Errors]) -> Errors:
    numbers = ("one_way", "two_way", "three_way", "seconds", "megabytes")
    values = {name: float(np.mean([getattr(run, name) for run in runs])) for name in numbers}
    common = [run.classifiers for run in runs if run.classifiers]
    classifiers = {name: _mean_scores([own[name] for own in common]) for name in (common or [{}])[0]}
    return Errors(**values, classifiers=classifiers)


def _mean_scores(scores: Sequence[Sequence[float]]) -> list[float]:
    """Return the means of AUC and accuracy over the releases that have them."""
    values = np.array(scores)
    return [float(np.mean(own[~np.isnan(own)])) if not np.isnan(own).all() else math.nan for own in values.T]


COLUMNS = {
    "adaptive": ("adaptive", "2-way"),
    "pure": ("adaptive, pure", "2-way"),
    "columns only": ("columns only", "2-way"),
    "MST at ε/2": ("MST/2", "2-way"),
    "MST": ("MST", "2-way"),
    "AUC": ("adaptive", "AUC"),
    "AUC with target": ("adaptive, target", "AUC"),
    "AUC of MST at ε/2": ("MST/2", "AUC"),
    "seconds": ("adaptive", "seconds"),
    "seconds of MST": ("MST/2", "seconds"),
}
"""By heading: of which method a column has which number."""


def as_rows(results: Mapping[Line, Errors]) -> Iterator[str]:
    """Yield a table of Markdown, a row for each table and epsilon. The AUC is that of logistic regression."""
    yield f"| table | ε | {' | '.join(COLUMNS)} |"
    yield f"| --- | --- | {' | '.join('---' for _ in COLUMNS)} |"
    own = means(results)
    for table, epsilon in sorted({way[:2] for way in own}, key=lambda row: ([*TABLES].index(row[0]), row[1])):
        cells = [_cell(own.get((table, epsilon, method)), number) for method, number in COLUMNS.values()]
        yield f"| {table} | {epsilon:g} | {' | '.join(cells)} |"


def _cell(mean: tuple[Errors, int] | None, number: str, digits: int = 3) -> str:
    if mean is None:
        return ""
    if number == "AUC":
        scores = mean[0].classifiers.get("logistic regression")
        return f"{scores[0]:.{digits - 1}f}" if scores else ""
    return f"{mean[0].two_way:.{digits}f}" if number == "2-way" else f"{mean[0].seconds:.1f}"


def findings(results: Mapping[Line, Errors]) -> Iterator[str]:
    """Yield what docs/utility.md states of the table, in its words."""
    own = means(results)
    settings = [(table, epsilon) for table, epsilon, method in own if method == "adaptive"]
    if not settings:
        return

    def value(setting: tuple[str, float], method: str, number: str = "2-way") -> float:
        cell = _cell(own.get((*setting, method)), number, digits=6)
        return float(cell) if cell else math.nan

    def where(is_better: Callable[[tuple[str, float]], bool]) -> str:
        epsilons: dict[str, list[str]] = {}
        for table, epsilon in sorted(filter(is_better, settings)):
            epsilons.setdefault(table, []).append(f"{epsilon:g}")
        return "; ".join(f"{table} at ε = {', '.join(values)}" for table, values in epsilons.items()) or "nowhere"

    same = ("MST/2", "AIM/2", "PrivBayes/2")
    ratios = {own: value(own, "adaptive") / np.nanmin([value(own, other) for other in same]) for own in settings}
    least, most, wins = min(ratios.values()), max(ratios.values()), sum(ratio < 1 for ratio in ratios.values())
    yield (
        f"At the same guarantee, the adaptive release has the smallest error in {wins} of {len(ratios)} settings: "
        f"{least:.2f} to {most:.2f} times that of the best other package."
    )
    yield f"Another package at the same guarantee: {where(lambda own: ratios[own] > 1)}."
    yield f"The columns alone: {where(lambda own: value(own, 'columns only') < value(own, 'adaptive'))}."
    yield (
        "MST at the same number, with its weaker guarantee, by more than 5 %: "
        f"{where(lambda own: value(own, 'MST') < 0.95 * value(own, 'adaptive'))}."
    )
    for method, words in (("adaptive", "without"), ("adaptive, target", "with")):
        better = where(lambda own, method=method: value(own, "MST/2", "AUC") > value(own, method, "AUC") + 0.02)
        yield f"The AUC of MST at ε/2, by more than 0.02, beside that {words} the target: {better}."


def _place(row: tuple[tuple[str, float, str], object]) -> tuple[int, float, int]:
    (table, epsilon, method), _ = row
    return [*TABLES].index(table), epsilon, [*programs()].index(method)


def title_of(method: str) -> str:
    """Return the name of a method in the documents."""
    return method.replace("/2", " at ε/2")


def two_way_errors(results: Mapping[Line, Errors]) -> dict[str, dict[str, dict[float, float]]]:
    """Return the mean errors of two columns by table, method and epsilon."""
    curves: dict[str, dict[str, dict[float, float]]] = {}
    for (table, epsilon, method), (errors, _) in sorted(means(results).items(), key=_place):
        curves.setdefault(table, {}).setdefault(title_of(method), {})[epsilon] = errors.two_way
    return curves


def records(seeds: int = 3) -> list[Record]:
    """Return the errors of two columns as records of a benchmark, of the tables that need no other package."""
    tables = [table for table in TABLES if table != "survey"]
    run = lines(tables, EPSILONS, ("adaptive", "adaptive, pure"), range(seeds))
    results = {line: errors for line in run if (errors := measured(line))}
    return [
        Record(name=f"{table}, epsilon {epsilon:g}, {method}", value=errors.two_way, unit="total variation")
        for (table, epsilon, method), (errors, _) in means(results).items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.utility", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--methods", nargs="+", default=["adaptive", "adaptive, pure"], choices=list(programs()))
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture of the errors of two columns")
    parser.add_argument("--stored", action="store_true", help="print stored results only, and measure nothing")
    args = parser.parse_args()
    results = {}
    for line in lines(args.tables, args.epsilons, args.methods, range(args.seeds)):
        if errors := stored().get(line) if args.stored else measured(line):
            results[line] = errors
            if not args.stored:
                print(f"{line.table}, {line.epsilon:g}, {line.method}, {line.seed}: {errors.two_way:.4f}", flush=True)
    print(__doc__.split("\n\n")[-1])
    print("\n".join((*as_rows(results), *findings(results))))
    if args.picture:
        save_errors(two_way_errors(results), args.picture)


if __name__ == "__main__":
    main()
