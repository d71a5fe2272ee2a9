"""Adaptive releases of made-up networks: `python -m benchmarks.made_up`.

Two measurements at delta = 1e-5, with all seeds in `made_up.jsonl`, a setting or a target per line:

- `--settings FIRST STOP`: random settings of 3 to 300 columns, 300 to 20,000 records and six values of epsilon; a part
  has independent columns. Ten releases beside ten of the columns alone at the whole budget: the mean total variation of
  all tables of two columns between the released model and the records, the released arrows, and how many of them are
  pairs of the network.
- `--targets FIRST STOP`: networks whose last column a logistic regression predicts with an AUC above 0.6. Two releases
  with `target` and two or three without: the AUC for held-out records of a regression that learns from synthetic
  records, that of the released model, and the error of pairs.
- `--wide FIRST STOP`: random trees of 200 columns of two to four states with strong dependence, and one of 500, with
  5,000 records at epsilon 1: three releases beside three of the columns alone.
- `--xor`: the same of a column that is the XOR of two of eight others, in four tables each, with eight per cent errors.
- `--intervals FIRST STOP`: how many shares of values in the records are in 95% intervals of one release of a random
  network, at five values of epsilon. The questions are of all columns, and of columns given others in a released table.

Without an option, it prints what docs/utility.md states.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.own import columns_alone
from benchmarks.utility_tables import Split, made_up, skewed_cpts
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.adaptive.reading import model_probabilities
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals
from dpbayes.model.query import place_of
from dpbayes.model.synthetic import even_records, sample_dataset
from dpbayes.posteriors.mixtures import DirichletMixtures

RESULTS = Path(__file__).with_name("made_up.jsonl")
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)


def pair_error(data: Dataset, network: Network, probabilities: FloatArray) -> float:
    """Return the mean total variation of all pairs of columns between a model and the records."""
    starts = np.concatenate(([0], np.cumsum(network.cards)[:-1]))
    has_state = np.concatenate(
        [np.eye(card, dtype=np.float32)[data.codes[:, j]] for j, card in enumerate(network.cards)], axis=1
    )
    away = np.abs(pair_marginals(network, probabilities) - has_state.T @ has_state / data.n)
    sums = np.add.reduceat(np.add.reduceat(away, starts, axis=0), starts, axis=1) / 2
    return float(sums[np.triu_indices(len(starts), 1)].mean())


# Settings


def setting(seed: int) -> tuple[str, float, Network, Dataset]:
    """Return the kind of a random setting, its epsilon, its network and its records."""
    rng = np.random.default_rng(5000 + seed)
    kind = ("network", "network", "tree", "tree", "independent")[int(rng.choice(5))]
    columns = int(np.exp(rng.uniform(np.log(3), np.log(301))))
    n = int(np.exp(rng.uniform(np.log(300), np.log(20_000))))
    epsilon = float(rng.choice(EPSILONS))
    cards = rng.choice([2, 2, 2, 3, 4, 5, 8], size=columns).tolist()
    names = tuple(f"v{j}" for j in range(columns))
    parents: list[tuple[str, ...]] = []
    for j in range(columns):
        if kind == "network":
            most = min(j, int(rng.choice([0, 1, 1, 2, 2, 3])))
            near = np.arange(max(0, j - 6), j)
            parents.append(tuple(names[k] for k in sorted(rng.permutation(near)[:most])))
        else:
            parents.append((names[int(rng.integers(j))],) if kind == "tree" and j else ())
    network = Network(names, tuple(tuple(f"s{k}" for k in range(card)) for card in cards), tuple(parents))
    data = sample_dataset(network, skewed_cpts(network, rng), n, np.random.default_rng(seed))
    return kind, epsilon, network, data


def against_columns(seed: int, releases: int = 10) -> dict[str, Any]:
    """Return the errors of releases of a setting, and those of the columns alone."""
    kind, epsilon, network, data = setting(seed)
    row: dict[str, Any] = {"seed": seed, "kind": kind, "columns": len(network.names), "n": data.n, "epsilon": epsilon}
    return row | compared(seed, epsilon, network, data, releases)


def compared(seed: int, epsilon: float, network: Network, data: Dataset, releases: int) -> dict[str, Any]:
    """Return the errors of releases, those of the columns alone, and how many released arrows are in the network."""
    plan, true = plan_for(epsilon, 1e-5), {frozenset(edge) for edge in network.edges}
    error, alone, arrows, right = [], [], 0, 0
    for k in range(releases):
        measured = carried_out(plan, data, SimulatedDraws(np.random.default_rng([seed, k]))).measured
        error.append(pair_error(data, measured.network, model_probabilities(measured)))
        own = columns_alone(data, plan, np.random.default_rng([seed, k, 1]))
        alone.append(pair_error(data, own.network, model_probabilities(own)))
        arrows += len(measured.network.edges)
        right += len(true & {frozenset(edge) for edge in measured.network.edges})
    return {"error": rounded(error), "alone": rounded(alone), "arrows": arrows, "right": right}


def wide(seed: int, columns: int, releases: int = 3) -> dict[str, Any]:
    """Return the same of a random tree with strong dependence, and the seconds of a release."""
    rng = np.random.default_rng([9000, seed])
    names, cards = tuple(f"v{j}" for j in range(columns)), rng.choice([2, 3, 4], size=columns).tolist()
    parents = tuple((names[int(rng.integers(j))],) if j else () for j in range(columns))
    network = Network(names, tuple(tuple(f"s{k}" for k in range(card)) for card in cards), parents)
    rows = [rng.dirichlet(np.full(card, 0.5)) for card in network.cards[network.node_of_row].tolist()]
    data = sample_dataset(network, np.concatenate(rows), 5000, rng)
    start = time.process_time()
    carried_out(plan_for(1, 1e-5), data, SimulatedDraws(rng))
    row = {"seed": seed, "wide": columns, "seconds": time.process_time() - start}
    return row | compared(seed, 1.0, network, data, releases)


# Targets


def scores(split: Split, codes: IntArray) -> FloatArray:
    """Return the log-odds of a logistic regression, with a ridge of 1, that learns from some records."""
    cards, target = [len(states) for states in split.train.states], split.train.names.index(split.target)

    def features(codes: IntArray) -> FloatArray:
        own = [np.eye(card)[codes[:, j]][:, 1:] for j, card in enumerate(cards) if j != target]
        return np.concatenate([np.ones((len(codes), 1)), *own], axis=1)

    design, truth = features(codes), codes[:, target]
    weights = np.zeros(design.shape[1])
    for _ in range(25):
        chance = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        curvature = (design * (chance * (1 - chance))[:, None]).T @ design + np.eye(len(weights))
        weights = weights - np.linalg.solve(curvature, design.T @ (chance - truth) + weights)
    return np.asarray(features(split.test.codes) @ weights)


def model_scores(split: Split, network: Network, probabilities: FloatArray) -> FloatArray:
    """Return the log-odds of the target given all other columns under a model, for the held-out records."""
    target, codes = network.index(split.target), split.test.codes.astype(np.int64)
    odds = np.zeros(len(codes))
    for state, sign in ((0, -1), (1, 1)):
        codes[:, target] = state
        odds += sign * log_probabilities(network, probabilities, codes)
    return odds


def auc(split: Split, odds: FloatArray) -> float:
    """Return the AUC of log-odds of the target, for the held-out records."""
    truth = split.test.codes[:, split.test.names.index(split.target)] == 1
    if truth.all() or not truth.any():
        return float("nan")
    places = rankdata(odds)[truth].sum() - truth.sum() * (truth.sum() + 1) / 2
    return float(places / (truth.sum() * (~truth).sum()))


def log_probabilities(network: Network, probabilities: FloatArray, codes: IntArray) -> FloatArray:
    """Return the logarithm of the probability of every record (n, d) under a model."""
    total = np.zeros(len(codes))
    for node, family in enumerate(network.families):
        places = np.ravel_multi_index(tuple(codes[:, list(family)].T), tuple(network.cards[list(family)]))
        total += np.log(probabilities[network.cell_offsets[node] + places])
    return total


def aimed(seed: int, epsilon: float, releases: int = 2) -> dict[str, Any] | None:
    """Return AUC and errors without and with the target; None where the records themselves predict it badly."""
    split = made_up(seed)
    if not auc(split, scores(split, split.train.codes)) > 0.6:
        return None
    row: dict[str, Any] = {"seed": seed, "epsilon": epsilon}
    for name, target in (("without", ""), ("with", split.target)):
        own = [predicted(split, epsilon, target, [seed, k]) for k in range(releases)]
        row[name] = rounded(np.mean(own, axis=0).tolist())
    return row


def predicted(split: Split, epsilon: float, target: str, seed: list[int]) -> tuple[float, float, float]:
    """Return the AUC of a regression and of the model, and the error of pairs, of one release."""
    rng = np.random.default_rng(seed)
    measured = carried_out(plan_for(epsilon, 1e-5, target), split.train, SimulatedDraws(rng)).measured
    model = measured.network, model_probabilities(measured)
    regression = auc(split, scores(split, even_records(*model, 20_000, rng).codes))
    return regression, auc(split, model_scores(split, *model)), pair_error(split.train, *model)


def xor(n: int, epsilon: float, tables: int = 4) -> dict[str, Any]:
    """Return the AUC of the model for a column that is the XOR of two others, without and with the target."""
    splits = [Split(_xor_table(n, seed), _xor_table(4000, 100 + seed), "v0") for seed in range(tables)]
    own = [[predicted(split, epsilon, target, [7, k])[1] for target in ("", "v0")] for k, split in enumerate(splits)]
    without, aim = np.mean(own, axis=0)
    return {"n": n, "epsilon": epsilon, "xor": rounded([without, aim])}


def _xor_table(n: int, seed: int) -> Dataset:
    rng, cards = np.random.default_rng(seed), (2, 4, 3, 2, 2, 5, 3, 2, 2)
    codes = np.stack([rng.integers(0, card, n) for card in cards], axis=1)
    codes[:, 0] = (codes[:, 3] ^ codes[:, 4]) ^ (rng.random(n) < 0.08)
    names = tuple(f"v{j}" for j in range(len(cards)))
    return Dataset(names, tuple(tuple(f"s{k}" for k in range(card)) for card in cards), codes)


# Intervals


def intervals(seed: int, epsilon: float, most: int = 100) -> dict[str, Any]:
    """Return how many shares are in the intervals of a release, and in those of the posterior alone, with mean widths.

    Each kind of shares has their number, how many are in the intervals, and in those of the posterior, and both widths.
    """
    data, rng = made_up(seed).train, np.random.default_rng([seed, round(100 * epsilon)])
    release = simulate_adaptive(data, epsilon=epsilon, delta=1e-5, rng=rng)
    network, law = release.network, release.tables.answering_posterior
    assert isinstance(law, DirichletMixtures)
    by_kind: dict[str, list[FloatArray]] = {}
    for target, evidence in sampled_questions(network, most, rng):
        is_given = [
            data.codes[:, network.index(name)] == place_of(network, name, own) for name, own in evidence.items()
        ]
        column = data.codes[np.all(is_given, axis=0) if is_given else slice(None), network.index(target)]
        if not len(column):
            continue
        shares = np.bincount(column, minlength=network.cards[network.index(target)]) / len(column)
        answers = [own.query(target, evidence, interval=0.95) for own in (law, replace(law, chosen=None))]
        inside = [(own.low <= shares + 1e-9) & (shares - 1e-9 <= own.high) for own in answers]
        rows = np.stack([np.ones(len(shares)), *inside, *(own.high - own.low for own in answers)], axis=1)
        kinds = {"all": rows, "0 or 1": rows[shares % 1 == 0], f"{min(len(evidence), 2)} given": rows}
        for kind, own in kinds.items():
            by_kind.setdefault(kind, []).append(own.sum(axis=0))
    sums = {kind: np.sum(rows, axis=0).tolist() for kind, rows in sorted(by_kind.items())}
    return {"seed": seed, "epsilon": epsilon, "intervals": {kind: rounded(own) for kind, own in sums.items()}}


def sampled_questions(network: Network, most: int, rng: np.random.Generator) -> list[tuple[str, dict[str, str]]]:
    """Return some of the questions of one column, of one given another of its family, and of one given its parents."""
    questions: list[tuple[str, dict[str, str]]] = [(name, {}) for name in network.names]
    for *parents, node in network.families:
        pairs = [pair for parent in parents for pair in ((node, parent), (parent, node))]
        for target, given in pairs:
            questions += [(network.names[target], {network.names[given]: own}) for own in network.states[given]]
        if len(parents) > 1:
            states = [rng.choice(network.states[parent]) for parent in parents]
            names = [network.names[parent] for parent in parents]
            questions.append((network.names[node], dict(zip(names, map(str, states), strict=True))))
    return [questions[k] for k in rng.permutation(len(questions))[:most]]


# What was measured


def rounded(values: list[float]) -> list[float]:
    """Return numbers with five significant digits."""
    return [float(f"{value:.5g}") for value in values]


def stored(part: str) -> list[dict[str, Any]]:
    """Return the stored rows that have a part: "kind" for settings, "with" for targets, "wide", "xor"."""
    return [row for line in RESULTS.read_text().splitlines() if part in (row := json.loads(line))]


def spread(values: FloatArray) -> str:
    """Return a mean with its standard error."""
    return f"{np.mean(values):.3f} ± {spread_of(values):.3f}"


def spread_of(values: FloatArray) -> float:
    """Return the standard error of a mean."""
    return float(np.std(values, ddof=1) / len(values) ** 0.5)


def findings() -> Iterator[str]:
    """Yield what docs/utility.md states of made-up networks, in its words."""
    rows = stored("kind")
    error, alone = (np.array([row[name] for row in rows]) for name in ("error", "alone"))
    away = error.mean(axis=1) - alone.mean(axis=1)
    sure = 2 * np.sqrt((error.var(axis=1, ddof=1) + alone.var(axis=1, ddof=1)) / error.shape[1])
    yield (
        f"In {len(rows)} settings, the error is by more than two standard errors smaller than that of the columns "
        f"alone in {(away < -sure).sum()}, and larger in {(away > sure).sum()}; the mean ratio is "
        f"{spread(error.mean(axis=1) / alone.mean(axis=1))}."
    )
    for epsilon in dict.fromkeys(row["epsilon"] for row in stored("with")):
        own = [row for row in stored("with") if row["epsilon"] == epsilon]
        without, aim = (np.array([row[name] for row in own]) for name in ("without", "with"))
        yield (
            f"At ε = {epsilon:g}, the AUC of {len(own)} targets is {spread(aim[:, 0])} instead of "
            f"{spread(without[:, 0])}, and the error of all pairs {spread(aim[:, 2] / without[:, 2])} times as large."
        )
    trees = [row for row in stored("wide") if row["wide"] == 200]
    right, arrows = (np.array([row[name] / 3 for row in trees]) for name in ("right", "arrows"))
    ratio = np.array([np.mean(row["error"]) / np.mean(row["alone"]) for row in trees])
    yield (
        f"Of random trees of 200 columns with strong dependence, {right.mean():.0f} ± {spread_of(right):.0f} of 199 "
        f"pairs are released, and {(arrows - right).mean():.0f} other pairs. The error of all pairs is "
        f"{spread(ratio)} times that of the columns alone."
    )
    (largest,) = (row for row in stored("wide") if row["wide"] == 500)
    yield f"A release of 500 columns takes {largest['seconds']:.0f} s."
    for row in stored("xor"):
        yield (
            f"From {row['n']:,} records at ε = {row['epsilon']:g}, the model predicts the XOR of two of eight columns "
            f"with an AUC of {row['xor'][1]:.2f} instead of {row['xor'][0]:.2f}."
        )
    yield from interval_findings(stored("intervals"))


def interval_findings(rows: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what docs/utility.md states of intervals."""

    def total(kind: str, epsilon: float | None = None) -> FloatArray:
        own = [row["intervals"][kind] for row in rows if kind in row["intervals"] and epsilon in (None, row["epsilon"])]
        return np.asarray(np.sum(own, axis=0))

    def contained(kind: str) -> str:
        number, inside, *_ = total(kind)
        return f"{100 * inside / number:.1f} % of {number:,.0f}"

    number, _, alone, *_ = total("all")
    yield (
        f"In {len(rows)} releases of made-up tables, intervals of 95 % contain {contained('all')} shares: "
        f"{contained('0 given')} in single columns, {contained('1 given')} given another column, "
        f"{contained('2 given')} given two or more, and {contained('0 or 1')} that are exactly 0 or 1."
    )
    epsilons = sorted({row["epsilon"] for row in rows})
    means = [total("all", epsilon) / total("all", epsilon)[0] for epsilon in epsilons]
    parts = (f"{100 * own[1]:.1f} % at ε = {epsilon:g}" for epsilon, own in zip(epsilons, means, strict=True))
    yield f"They contain {', '.join(parts)}; intervals of the posterior alone {100 * alone / number:.0f} % at all ε."
    widths, posterior = (", ".join(f"{own[place]:.2f}" for own in means) for place in (3, 4))
    yield f"At these ε, the mean widths are {widths} instead of {posterior}."


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.made_up", description=__doc__)
    parser.add_argument("--settings", nargs=2, type=int, metavar=("FIRST", "STOP"), help="measure these settings")
    parser.add_argument("--targets", nargs=2, type=int, metavar=("FIRST", "STOP"), help="measure these targets")
    parser.add_argument("--wide", nargs=2, type=int, metavar=("FIRST", "STOP"), help="measure these wide trees")
    parser.add_argument("--xor", action="store_true", help="measure XOR tables")
    parser.add_argument("--intervals", nargs=2, type=int, metavar=("FIRST", "STOP"), help="measure these intervals")
    args = parser.parse_args()
    rows = (against_columns(seed) for seed in range(*(args.settings or (0, 0))))
    aims = (aimed(seed, epsilon) for seed in range(*(args.targets or (0, 0))) for epsilon in (0.1, 1.0))
    trees = (wide(seed, columns) for seed in range(*(args.wide or (0, 0))) for columns in (200, 500)[: 1 + (not seed)])
    tables = (xor(n, epsilon) for n, epsilon in ((1000, 1.0), (5000, 0.1)) if args.xor)
    answers = (
        intervals(seed, epsilon) for seed in range(*(args.intervals or (0, 0))) for epsilon in (0.1, *EPSILONS[2:])
    )
    with RESULTS.open("a") as file:
        for row in chain(rows, aims, trees, tables, answers):
            if row:
                file.write(json.dumps(row) + "\n")
                file.flush()
    print("\n".join(findings()))


if __name__ == "__main__":
    main()
