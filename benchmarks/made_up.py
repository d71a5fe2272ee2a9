"""Adaptive releases of made-up networks on which no setting was chosen: `python -m benchmarks.made_up`.

For every network of the seeds 200 to 239 and every epsilon (at delta = 1e-5): the mean total variation of all tables of
two columns between the released model and the records, that of the columns alone at the whole budget, how many pairs of
the graph that are arrows of the network, and the AUC of the target for held-out records under the released model, with
and without `target`. Results are stored in `made_up.jsonl`, one release per line. A version has the name that --version
gives it. "main" is the version of 686520d7, which has no target.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from benchmarks.utility_tables import Split, made_up, made_up_network
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, new_prices, wanted_precisions
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.adaptive.reading import Measured, model_probabilities
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals

RESULTS = Path(__file__).with_name("made_up.jsonl")
SEEDS, EPSILONS = range(200, 240), (0.1, 1.0, 10.0)


def pair_error(split: Split, network: Network, probabilities: FloatArray) -> float:
    """Return the mean total variation of all pairs of columns between a model and the records."""
    starts = np.concatenate(([0], np.cumsum(network.cards)[:-1]))
    states = [np.eye(card)[split.train.codes[:, j]] for j, card in enumerate(network.cards)]
    has_state = np.concatenate(states, axis=1)
    away = np.abs(pair_marginals(network, probabilities) - has_state.T @ has_state / split.train.n)
    sums = np.add.reduceat(np.add.reduceat(away, starts, axis=0), starts, axis=1) / 2
    return float(sums[np.triu_indices(len(starts), 1)].mean())


def auc(split: Split, network: Network, probabilities: FloatArray) -> float:
    """Return the AUC of P(target | all other columns) under a model, on the held-out records."""
    target, codes = network.index(split.target), split.test.codes.astype(np.int64)
    if len(set(codes[:, target].tolist())) < 2:
        return float("nan")
    truth = codes[:, target] == 1
    odds = np.zeros(len(codes))
    for state, sign in ((0, -1), (1, 1)):
        codes[:, target] = state
        odds += sign * log_probabilities(network, probabilities, codes)
    places = rankdata(odds)[truth].sum() - truth.sum() * (truth.sum() + 1) / 2
    return float(places / (truth.sum() * (~truth).sum()))


def log_probabilities(network: Network, probabilities: FloatArray, codes: IntArray) -> FloatArray:
    """Return the logarithm of the probability of every record (n, d) under a model."""
    total = np.zeros(len(codes))
    for node, family in enumerate(network.families):
        places = np.ravel_multi_index(tuple(codes[:, list(family)].T), tuple(network.cards[list(family)]))
        total += np.log(probabilities[network.cell_offsets[node] + places])
    return total


def columns_alone(split: Split, plan: AdaptivePlan, rng: np.random.Generator) -> Measured:
    """Return the columns measured at the whole budget."""
    network = Network(split.train.names, split.train.states, ((),) * len(split.train.names))
    nothing = MeasuredResiduals.nothing(network, split.train.n, int((1 << 42) / plan.rho))
    prices = new_prices(nothing, wanted_precisions(network), plan.rho)
    return nothing.with_results(prices, nothing.noisy(split.train, prices, SimulatedDraws(rng)))


def errors(seed: int, epsilon: float) -> dict[str, float]:
    """Return the numbers of one release, and of one with a target if this version has targets."""
    split, plan = made_up(seed), plan_for(epsilon, 1e-5)
    true = {frozenset(edge) for edge in made_up_network(seed)[0].edges}
    measured = carried_out(plan, split.train, SimulatedDraws(np.random.default_rng(seed))).measured
    alone = columns_alone(split, plan, np.random.default_rng(seed))
    network, probabilities = measured.network, model_probabilities(measured)
    right = len(true & {frozenset(edge) for edge in network.edges})
    numbers = {
        "error": pair_error(split, network, probabilities),
        "columns": pair_error(split, alone.network, model_probabilities(alone)),
        "arrows": len(network.edges),
        "right": right,
        "true": len(true),
        "auc": auc(split, network, probabilities),
    }
    if "target" in {own.name for own in fields(plan)}:
        aimed = replace(plan, target=split.target)
        measured = carried_out(aimed, split.train, SimulatedDraws(np.random.default_rng(seed))).measured
        model = measured.network, model_probabilities(measured)
        numbers |= {"target error": pair_error(split, *model), "target auc": auc(split, *model)}
    return numbers


def as_rows() -> Iterator[str]:
    """Yield a table of Markdown: means over all networks, with standard errors of those of the errors."""
    rows = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    yield "| version | ε | 2-way | of columns only | better, worse | arrows right of released | AUC | with a target |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for version in dict.fromkeys(row["version"] for row in rows):
        for epsilon in EPSILONS:
            own = [row["numbers"] for row in rows if (row["version"], row["epsilon"]) == (version, epsilon)]
            values = {name: np.array([numbers[name] for numbers in own]) for name in own[0]}
            ratio = values["error"] / values["columns"]
            spread = ratio.std(ddof=1) / len(own) ** 0.5
            aimed = f"{np.nanmean(values['target auc']):.2f}" if "target auc" in values else ""
            yield (
                f"| {version} | {epsilon:g} | {values['error'].mean():.4f} | {ratio.mean():.2f} ± {spread:.2f} | "
                f"{(ratio < 0.98).sum()}, {(ratio > 1.02).sum()} | "
                f"{values['right'].sum():.0f} of {values['arrows'].sum():.0f} | "
                f"{np.nanmean(values['auc']):.2f} | {aimed} |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.made_up", description=__doc__)
    parser.add_argument("--version", help="measure this version and store its results under this name")
    args = parser.parse_args()
    if args.version:
        with RESULTS.open("a") as file:
            for seed in SEEDS:
                for epsilon in EPSILONS:
                    numbers = {name: float(f"{value:.5g}") for name, value in errors(seed, epsilon).items()}
                    row = {"version": args.version, "seed": seed, "epsilon": epsilon, "numbers": numbers}
                    file.write(json.dumps(row) + "\n")
    print("\n".join(as_rows()))


if __name__ == "__main__":
    main()
