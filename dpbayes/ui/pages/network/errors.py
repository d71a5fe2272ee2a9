"""The price of a structure in error: the mean absolute error of every mechanism on planned tables."""

from collections.abc import Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import distinct_texts, escaped, many, numeral
from dpbayes.base.validation import InputError, brief
from dpbayes.experiments.best_noise import is_searched, needs_delta
from dpbayes.experiments.least_epsilon.tables import (
    are_drawn_together,
    evenly_planned_tables,
    has_columns,
    planned_tables,
)
from dpbayes.experiments.planned_errors import Plan, PlannedErrors, is_near, planned_errors
from dpbayes.figures.structure import (
    ErrorBar,
    NodeBars,
    by_node_height,
    errors_height,
    mechanism_errors_figure,
    node_errors_figure,
)
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.session.chosen import Chosen, has_question, kind_called, target_and_evidence
from dpbayes.ui.session.host import share_of_host
from dpbayes.ui.session.kept import server_cache
from dpbayes.ui.session.options.workflow import ByNode
from dpbayes.ui.session.settings import MECHANISM_NAMES, Cpts
from dpbayes.ui.widgets.address import hand_moves
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import Running, progress_if_long, running, so_far
from dpbayes.ui.widgets.show import inside

MOST_CELLS, FEWEST_TABLES, MOST_TABLES = 4_000, 4, 100
"""Cells of all planned tables together, and how many tables there are at least and at most."""

AT_ONCE = 1_000
"""Cells of the tables of one step."""

MOST_NETWORK, MOST_SLOW, MOST_READ = 20_000, 400, 4_000
"""Cells of a network whose errors are worked out; of those where mechanisms that draw one by one take part, and where
releases are read with their noise in mind, as on Explore."""

USUAL_RECORDS, MOST_RECORDS, MOST_DRAWN = 1_000, 100_000, 1_000_000
"""Records of a planned table if there is no table, at most, and of all tables that are sampled one by one."""

_KIND, _KIND_OWN = "network.errors", "network.errors.own"


def is_too_large(network: Network) -> bool:
    """Return whether errors on a network would take too long."""
    return network.cell_count > MOST_NETWORK


def errors_under_way(
    chosen: Chosen, *, searched: bool, kind: str = _KIND
) -> Running[PlannedErrors] | PlannedErrors | None:
    """Return the started work on the errors; while a slider moves, the result so far. None for a large network.

    Mechanisms that search their best scales are included if the search is quick (`searched`).
    """
    if is_too_large(chosen.network):
        return None
    names = names_compared(chosen, searched=searched)
    key = key_of(chosen, names)
    if hand_moves():
        errors: PlannedErrors | None = so_far(kind, key)
        return errors

    def start() -> Work[PlannedErrors]:
        plan, mechanisms, at_once = planned(chosen), _able(chosen, names), tables_at_once(chosen.network)
        rng = partial(stream, chosen.seed, "network", "errors")
        return shared_errors().once_in_steps(key, planned_errors, plan, mechanisms, rng, at_once=at_once)

    return running(kind, key, start).begun()


def own_errors_under_way(chosen: Chosen, *, searched: bool) -> Running[PlannedErrors] | PlannedErrors | None:
    """Return the work on the errors with the table's own arrows; nothing where the drawing has these, or other nodes.

    The planned tables are the same for both.
    """
    own, network = chosen.own, chosen.network
    with suppress(InputError):  # the table may be gone
        if set(own.network.edges) != set(network.edges) and same_columns(own.network, network):
            return errors_under_way(own, searched=searched, kind=_KIND_OWN)
    return None


def same_columns(first: Network, second: Network) -> bool:
    """Return whether two networks have the same nodes with the same states."""
    return has_columns(first, second) and has_columns(second, first)


@server_cache()
def shared_errors() -> Memo:
    """Return what a server keeps for all its sessions: no record has a part in it, and a class asks for the same."""
    return Memo()


def tables_at_once(network: Network) -> int:
    """Return how many tables one step takes."""
    return max(2, AT_ONCE // network.cell_count)


def compared_mechanisms(chosen: Chosen, *, searched: bool) -> tuple[Any, ...]:
    """Return the mechanisms whose errors are worked out, as `errors_under_way` does."""
    return tuple(_able(chosen, names_compared(chosen, searched=searched)))


def names_compared(chosen: Chosen, *, searched: bool) -> tuple[str, ...]:
    """Return the names of the mechanisms whose errors would be worked out if all can be run."""
    is_small = chosen.network.cell_count <= MOST_SLOW
    kinds = {name: kind_called(name) for name in MECHANISM_NAMES}
    return tuple(
        name
        for name, kind in kinds.items()
        if (searched or not is_searched(kind)) and (is_small or hasattr(kind, "node_noise_sd"))
    )


def _able(chosen: Chosen, names: tuple[str, ...]) -> list[Any]:
    """The mechanisms, with the parameters chosen, that can be run on the network; Laplace's always can."""
    able = []
    for name in names:
        try:
            mechanism = chosen.mechanism_called(name)
            if hasattr(mechanism, "node_noise_sd"):
                _ = mechanism.node_noise_sd  # searches for the best noise, or finds that it cannot
        except InputError:
            continue
        able.append(mechanism)
    return able


def key_of(chosen: Chosen, names: tuple[str, ...]) -> tuple[Hashable, ...]:
    """Return what errors of these mechanisms depend on."""
    every = {parameter for name in names for parameter in parameters_of(kind_called(name))}
    parameters = tuple((parameter, chosen.settings.parameter(parameter)) for parameter in sorted(every))
    question_key = str(target_and_evidence(chosen)) if has_question(chosen) else ""
    reading = chosen.options("release").reading
    source, cpts = chosen.public_source or (None, None)
    drawn_from = source, None if cpts is None else cpts.tobytes()
    tables = *drawn_from, chosen.network, planned_records(chosen), planned_size(chosen), chosen.seed
    return names, parameters, tables, chosen.settings.prior, question_key, reading


def planned_records(chosen: Chosen) -> int:
    """Return how many records a planned table has."""
    return min(USUAL_RECORDS if chosen.n is None else chosen.n, MOST_RECORDS)


def planned(chosen: Chosen) -> Plan:
    """Return the planned tables: their records do not depend on the arrows that are drawn between the columns."""
    network, n, size = chosen.network, planned_records(chosen), planned_size(chosen)
    rng = stream(chosen.seed, "network", "tables")
    if chosen.public_source is None:
        tables = evenly_planned_tables(independent_columns(network), n, size, rng, fitted=network)
    else:
        tables = planned_tables(*chosen.public_source, n, size, rng, fitted=network)
    return Plan(tables, planned_reading(chosen), target_and_evidence(chosen) if has_question(chosen) else None)


def independent_columns(network: Network) -> Network:
    """Return the network without arrows: what planned tables come from where no probabilities are public."""
    columns = sorted(network.names)  # the order of drawing is not to matter
    return Network.from_edges(columns, [], dict(zip(network.names, network.states, strict=True)))


def planned_size(chosen: Chosen) -> int:
    """Return how many tables are planned."""
    network = chosen.network
    size = min(MOST_TABLES, MOST_CELLS // network.cell_count)
    if not are_drawn_together(network if chosen.public_source is None else chosen.public_source[0]):
        size = min(size, MOST_DRAWN // max(planned_records(chosen), 1))
    return max(share_of_host(FEWEST_TABLES, 2), share_of_host(size, 0))


def planned_reading(chosen: Chosen) -> Reading:
    """Return how their releases are read."""
    reading: Reading = chosen.options("release").reading
    return reading if chosen.network.cell_count <= MOST_READ else Reading.AS_REAL


def planned_from(chosen: Chosen) -> str:
    """Return what the records of planned tables are drawn from, in words."""
    if chosen.public_source is None:
        return "independent columns with new random probabilities for each table"
    settings = chosen.settings
    if settings.source in NAMED and (settings.data != "synthetic" or settings.cpts is Cpts.PUBLISHED):
        return f"the published probabilities of {NAMED[settings.source].title}"
    return "the probabilities behind the synthetic table"


def plan_sentences(chosen: Chosen) -> str:
    """Return how the errors are computed."""
    is_aware = planned_reading(chosen) is Reading.NOISE_AWARE
    reader = "a noise-aware reader where the noise is public" if is_aware else "a naive reader"
    return (
        f"Mean absolute error of the probabilities over {many(planned_size(chosen), 'simulated table')} of "
        f"{many(planned_records(chosen), 'record')} from {planned_from(chosen)}, for {reader}. Your records are not "
        "used, and the tables are the same for every drawing."
    )


# In words and pictures


MOST_NAMED = 3
"""The largest number of names in a list without a clear difference."""


def names_in_sentence(names: Sequence[str], *, word: str = "and") -> str:
    """Return names as a sentence has them, the first few of many, with a word before the last."""
    more = len(names) - MOST_NAMED
    named = list(names[:MOST_NAMED]) + [f"{more} more"] * (more > 0)
    return f" {word} ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]


def verdict(chosen: Chosen, drawn: PlannedErrors, own: PlannedErrors | None = None) -> str:
    """State the error before and after where the drawing has other arrows than the table's own, else the least error.

    Args:
        chosen: What is set.
        drawn: The errors with the arrows as they are drawn.
        own: Those with the table's own arrows, where these are others.
    """
    if own is not None and (change := change_of_error(own, drawn)):
        return change
    near = [inside(drawn.mechanisms[k].label) for k in drawn.near]
    tied = f", with no clear difference from {names_in_sentence(near)}" if near else ""
    best, least = inside(drawn.mechanisms[drawn.least].label), numeral(float(drawn.means[drawn.least]), 2)
    return f"At ε = {numeral(chosen.epsilon, 6)}, {best} has the lowest mean absolute error ({least}){tied}."


def change_of_error(own: PlannedErrors, drawn: PlannedErrors) -> str:
    """State the error of the best mechanism with the table's own arrows and with those drawn, as a sentence."""
    best = drawn.mechanisms[drawn.least]
    place = next((k for k, mechanism in enumerate(own.mechanisms) if type(mechanism) is type(best)), None)
    if place is None:
        return ""
    common = min(own.cells.shape[1], drawn.cells.shape[1])
    before, after = own.cells[place, :common], drawn.cells[drawn.least, :common]
    first, now = distinct_texts(float(own.means[place]), float(drawn.means[drawn.least]), most=2)
    change = f"the mean absolute error with {inside(best.label)}"
    if not is_near(after - before, float(before.mean())):
        return f"Your drawing raises {change} from {first} to {now}."
    if not is_near(before - after, float(after.mean())):
        return f"Your drawing lowers {change} from {first} to {now}."
    return f"Your drawing makes no clear difference to {change}: {first} before, {now} after."


def needs_binary(network: Network) -> str:
    """Return a sentence why Fourier is not compared; "" if it is."""
    nodes = zip(network.names, network.states, strict=True)
    name = next((name for name, states in nodes if len(states) != 2), None)
    also = "Posterior sampling and private MAP do not need binary nodes."
    return "" if name is None else f"Fourier needs binary nodes, and {escaped(brief(name))} is not binary. {also}"


def name_with_delta(mechanism: Any) -> str:
    """Return what a mechanism is called inside a sentence, with its delta."""
    delta = f" (δ = {numeral(mechanism.delta)})" if needs_delta(type(mechanism)) else ""
    return f"{inside(mechanism.label)}{delta}"


def place_of_bars(chosen: Chosen, *, searched: bool) -> DeltaGenerator:
    """Return a container as high as the bars, so that nothing shifts while a slider moves."""
    return st.container(height=errors_height(len(names_compared(chosen, searched=searched))) + 24, border=False)


def error_bars(chosen: Chosen, drawn: PlannedErrors) -> None:
    """Show the expected error of every mechanism."""
    bars = [
        ErrorBar(name_with_delta(mechanism)[0].upper() + name_with_delta(mechanism)[1:], mechanism.colour, mean, error)
        for mechanism, mean, error in zip(drawn.mechanisms, drawn.means, drawn.standard_errors, strict=True)
    ]
    means = "; ".join(f"{bar.name} {numeral(bar.mean, 2)}" for bar in bars)
    chart(mechanism_errors_figure(bars), key="errors", alt=f"Bars: mean absolute error. {means}.", simulates=True)


def error_of_answer(chosen: Chosen, drawn: PlannedErrors | None, *, searched: bool) -> None:
    """State the error of the answer to the person's question, if there is one; of the same length while unknown."""
    if not has_question(chosen):
        return
    answers = None if drawn is None else drawn.of_answer
    if answers is None:
        unknown = (f"… with {inside(kind_called(name).label)}" for name in names_compared(chosen, searched=searched))
        errors, tied = ", ".join(unknown), ""
    else:
        ordered = sorted(zip(answers.means, map(name_with_delta, answers.mechanisms), strict=True))
        errors = ", ".join(f"{numeral(float(error), 2)} with {name}" for error, name in ordered)
        near = [inside(answers.mechanisms[k].label) for k in answers.near]
        others = names_in_sentence(near, word="or") if near else ""
        tied = f" The lowest error is not clearly lower than that of {others}." if others else ""
    st.caption(f"Mean absolute error of your question, {question_text(chosen)}: {errors}.{tied}")


def are_errors_shown(chosen: Chosen) -> bool:
    """Return whether the bars by node are of errors, which are not worked out for a large network."""
    return chosen.options("network").by_node is ByNode.ERROR and not is_too_large(chosen.network)


def place_by_node(chosen: Chosen, *, searched: bool) -> None:
    """Keep the place of the bars by node while they are not known."""
    mechanisms = len(names_compared(chosen, searched=searched))
    st.container(height=by_node_height(mechanisms, len(chosen.network.names)), border=False)


def error_by_node(chosen: Chosen, drawn: PlannedErrors) -> None:
    """Show the expected error of each node's probabilities under every mechanism."""
    means = drawn.node_means
    if means is None:
        return
    bars = [
        NodeBars(name_with_delta(mechanism)[0].upper() + name_with_delta(mechanism)[1:], mechanism.colour, errors)
        for mechanism, errors in zip(drawn.mechanisms, means, strict=True)
    ]
    chart(
        node_errors_figure(chosen.network.names, bars),
        key="errors.nodes",
        alt=f"Bars: mean absolute error of each node’s probabilities, by mechanism. {worst_node(chosen, drawn)}",
        simulates=True,
    )


def worst_node(chosen: Chosen, drawn: PlannedErrors) -> str:
    """Name the node with the largest error under the best mechanism, and those with no clear difference from it."""
    means = drawn.node_means
    if means is None or not drawn.farthest:
        return ""
    first, *rest = drawn.farthest
    names = [escaped(brief(chosen.network.names[node])) for node in drawn.farthest]
    sentence = (
        f"With {name_with_delta(drawn.mechanisms[drawn.least])}, {names[0]} has the largest mean absolute error "
        f"({numeral(float(means[drawn.least, first]), 2)})"
    )
    return f"{sentence}, with no clear difference from {names_in_sentence(names[1:])}." if rest else f"{sentence}."


def question_text(chosen: Chosen) -> str:
    """Return the person's question as a sentence has it."""
    target, given = target_and_evidence(chosen)
    names = ", ".join(assignment(name, state) for name, state in given.items())
    return escaped(f"P({target} | {names})" if given else f"P({target})")


def show_progress(works: Sequence[Running[PlannedErrors]]) -> None:
    """Show the number of finished tables of the first computation, if the rest takes long."""
    for work in works[:1]:
        progress_if_long(work, "the planned tables", key="errors.stop")
