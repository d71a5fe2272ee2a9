"""The stages of an adaptive release, and why all of them together satisfy rho of zero-concentrated privacy.

1. Columns: all one-way tables are measured.
2. Forest: pairs of columns are chosen whose counts are far from the product of the released one-way tables.
3. Pairs: the columns and the pairs of the forest are measured.
4. Parents: further parents are chosen where the counts of a pair are far from the model released so far.
5. Families: the families of the grown graph are measured. Stages 4 and 5 are repeated.

Privacy. Neighbours are tables of the same public n that differ in one record. Let the two records differ in the columns
d. Step t depends on the output o_<t of the earlier steps, and is one of two:

- A measurement adds discrete Gaussian noise to whole residuals. The divergence of order alpha is at most alpha rho_t,
  with rho_t = sum_A p_A (N_A - N_A(d))/S at its prices p (`dpbayes.mechanisms.adaptive.measured`).
- A choice is an exponential mechanism with rho_t = e^2/8, e the range of its loss (`choice_scale`).

Both rho_t depend on o_<t and d only. The stages below take prices and choices such that sum_t rho_t <= rho on every
path o and for every d: the sum over the measurements is the charge of the sums of their prices, whose maximum over d is
computed exactly, or bounded. Let P and Q be the laws of the output for the two tables, and P_t and Q_t those of step t
given o_<t. By induction from the last step, each of which has E_Q[(P_t/Q_t)^alpha | o_<t] <= exp((alpha - 1) alpha
rho_t),

    E_Q[prod_t (P_t/Q_t)^alpha exp(-(alpha - 1) alpha rho_t)] <= 1.

As sum_t rho_t <= rho, E_Q[(P/Q)^alpha] <= exp((alpha - 1) alpha rho): the release is rho-zCDP. This is the composition
of [Feldman and Zrnic, "Individual privacy accounting via a Renyi filter", 2021, Theorem 4.3] for two fixed tables. It
needs the bound on every path, and allows the budget that choices did not use to go to measurements.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.choices import (
    MOST_ROUNDS,
    Chosen,
    Graph,
    ParentRounds,
    chosen_forest,
    chosen_parents,
    pair_noise,
    rooted,
)
from dpbayes.mechanisms.adaptive.design import new_prices, wanted_precisions
from dpbayes.mechanisms.adaptive.draws import Draws, choice_scale
from dpbayes.mechanisms.adaptive.measured import Measured
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, Step
from dpbayes.mechanisms.adaptive.reading import column_distributions, model_probabilities
from dpbayes.mechanisms.adaptive.scores import (
    MOST_RECORDS,
    pair_counts,
    pair_scores,
    state_starts,
    whole_expected,
)
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals

MOST_STATES = 8192
"""Most states of all columns together: all pairs of them are counted."""

_PRICES = 1 << 42
"""The sum of the prices at rho is about so large: prices are fine enough, and sums fit the machine's whole numbers."""


@dataclass(frozen=True, eq=False)
class Process:
    """All that an adaptive release hands over: the measurements over the final graph, and the steps."""

    measured: Measured
    steps: tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class _State:
    """The release so far: its measurements, what the choices cost, and the steps."""

    measured: Measured
    choices: Fraction = Fraction(0)
    steps: tuple[Step, ...] = ()

    @property
    def rho(self) -> Fraction:
        """What all steps so far cost for the worst record."""
        return self.measured.rho + self.choices

    def chose(self, stage: str, chosen: Chosen) -> "_State":
        """Return the state after a choice."""
        names = self.measured.network.names
        found = "nothing" if chosen.pair is None else " - ".join(names[j] for j in chosen.pair)
        found += "" if chosen.is_taken else " (not taken: the model would be too large)"
        error = float(choice_scale(1, chosen.rho)) * np.pi / 6**0.5 * 2
        step = Step(stage, found, chosen.candidates, chosen.rho, error)
        return _State(self.measured, self.choices + chosen.rho, (*self.steps, step))

    def measure(self, stage: str, network: Network, limit: Fraction, data: Dataset, draws: Draws) -> "_State":
        """Return the state after the sets of a network were measured; all measurements cost at most `limit`."""
        before = self.measured.within(network)
        prices = new_prices(before, wanted_precisions(network), limit)
        after = before.measured(data, prices, draws)
        residuals = network.residuals
        error = float(np.sqrt(residuals.cell_variances(after.variances)).mean())
        step = Step(stage, "", len(network.families), after.rho - self.measured.rho, error)
        return _State(after, self.choices, (*self.steps, step))


def carried_out(plan: AdaptivePlan, data: Dataset, draws: Draws) -> Process:
    """Carry out all stages. Errors: InputError for a table without records, and for sizes above a limit."""
    require_feasible(data)
    columns = _network(data, ((),) * len(data.names))
    unit = int(_PRICES / plan.rho)
    state = _State(Measured.nothing(columns, data.n, unit))
    state = state.measure("columns", columns, plan.one_way * plan.rho, data, draws)
    counts = pair_counts(data)
    state, graph = _with_forest(plan, state, data, counts, draws)
    state = state.measure("pairs", _network(data, graph.parents), plan.pairs * plan.rho, data, draws)
    state = _with_parents(plan, state, graph, data, (counts, draws))
    if state.rho > plan.rho:
        raise AssertionError("the steps cost more than the budget")
    return Process(state.measured, state.steps)


def require_feasible(data: Dataset) -> None:
    """Refuse a table that is too large, or that has no records or no state to tell from another.

    Errors: InputError, which depends on public facts only.
    """
    states = sum(map(len, data.states))
    if states > MOST_STATES:
        raise InputError(f"The columns have {states:,} states together; the limit is {MOST_STATES:,}.")
    if not 1 <= data.n <= MOST_RECORDS:
        raise InputError(f"The table has {data.n:,} records; an adaptive release needs 1 to {MOST_RECORDS:,}.")
    if all(len(own) < 2 for own in data.states):
        raise InputError("No column has two states, so there is nothing to release.")


def _with_forest(
    plan: AdaptivePlan, state: _State, data: Dataset, counts: IntArray, draws: Draws
) -> tuple[_State, Graph]:
    cards = np.array([len(states) for states in data.states])
    columns = len(cards)
    margins = column_distributions(state.measured)
    scores = _scores(data, counts, np.outer(margins, margins))
    rest = plan.rho * (1 - plan.forest - plan.parents)
    scores = scores - pair_noise(cards, tables=columns, rho=rest)
    allowed = (np.outer(cards, cards) <= plan.most_cells) & np.outer(cards > 1, cards > 1)
    pairs = []
    for chosen in chosen_forest(scores, allowed, plan.forest * plan.rho / max(columns - 1, 1), draws):
        state = state.chose("forest", chosen)
        pairs += [chosen.pair] if chosen.pair else []
    return state, Graph.of(rooted(pairs, columns), cards)


def _with_parents(
    plan: AdaptivePlan, state: _State, graph: Graph, data: Dataset, private: tuple[IntArray, Draws]
) -> _State:
    """Add parents and measure the families, batch after batch; the last measurement takes what is left."""
    counts, draws = private
    rounds = min(len(data.names), MOST_ROUNDS)
    setting = ParentRounds(
        rounds=-(-rounds // plan.batches),
        most_parents=plan.most_parents,
        most_cells=plan.most_cells,
        noise_rho=plan.rho * (1 - plan.forest - plan.parents),
        rho=plan.parents * plan.rho / (-(-rounds // plan.batches) * plan.batches),
    )
    start = plan.pairs * plan.rho
    for batch in range(plan.batches):
        network = state.measured.network
        model = pair_marginals(network, model_probabilities(state.measured))
        is_last = batch == plan.batches - 1
        for grown, chosen in chosen_parents(graph, _scores(data, counts, model), setting, draws):
            graph, state = grown, state.chose("parents", chosen)
            is_last |= chosen.pair is None
        network = _network(data, graph.parents)
        is_last |= network == state.measured.network
        left = plan.rho - state.choices
        limit = left if is_last else start + (left - start) * Fraction(batch + 1, plan.batches)
        state = state.measure("families", network, limit, data, draws)
        if is_last:
            break
    return state


def _scores(data: Dataset, counts: IntArray, model: FloatArray) -> IntArray:
    return pair_scores(counts, whole_expected(data.n * model), state_starts(data))


def _network(data: Dataset, parents: Sequence[tuple[int, ...]]) -> Network:
    return Network(data.names, data.states, tuple(tuple(data.names[j] for j in own) for own in parents))
