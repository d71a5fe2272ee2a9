"""The Python code that computes the numbers of the Network page."""

from typing import Any

from dpbayes.base.parameters import parameters_of
from dpbayes.experiments.arrow_prices import ArrowErrors
from dpbayes.ui.pages.network.arrows import places_of, planned_for
from dpbayes.ui.pages.network.errors import (
    POINTS,
    are_errors_shown,
    compared_mechanisms,
    is_too_large,
    planned_reading,
    planned_records,
    planned_size,
    tables_at_once,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.from_python import (
    FACE,
    STREAM,
    network_in_python,
    program,
    public_source_in_python,
    value_in_python,
)

_NODES = (
    "print({mechanism.label: dict(zip(network.names, of)) for mechanism, of in zip(mechanisms, errors.node_means)})"
)
"""What prints the error of every mechanism at each node."""


def python_of(chosen: Chosen, *, searched: bool, priced: ArrowErrors | None = None) -> str:
    """Return the code that gives the errors of the headline; of a network too large for these the noise per cell.

    Where all arrows are `priced`, it gives the errors without each of them too.
    """
    network, seed = chosen.network, chosen.seed
    if is_too_large(network):
        return program(
            FACE,
            "from dpbayes.experiments.structure import structure_cost",
            network_in_python(network),
            f"cost = structure_cost(network, {chosen.epsilon!r})",
            "print(cost.laplace_noise, cost.fourier_noise)",
        )
    return program(
        FACE,
        STREAM,
        "from dpbayes.base.steps import finished",
        "from dpbayes.experiments.planned_errors import Plan, planned_errors",
        _tables(chosen),
        value_in_python("reading", planned_reading(chosen)),
        value_in_python("mechanisms", compared_mechanisms(chosen, searched=searched)),
        f"plan = Plan(tables, reading, {POINTS})",
        f'streams = [stream({seed!r}, "network", "errors", place) for place in range(len(mechanisms))]',
        f"work = planned_errors(plan, mechanisms, streams.__getitem__, at_once={tables_at_once(network)})",
        "errors = finished(work)",
        "print({mechanism.label: error for mechanism, error in zip(mechanisms, errors.means)})",
        *([_NODES] if are_errors_shown(chosen) else []),
        *([] if priced is None else _arrows(chosen, priced, searched=searched)),
    )


def _arrows(chosen: Chosen, priced: ArrowErrors, *, searched: bool) -> list[str]:
    """Return the code that continues with the errors without each arrow."""
    arrows, seed = tuple(priced.without), chosen.seed
    places = list(places_of(chosen, arrows, searched=searched).values())
    return [
        "# Without each arrow",
        "from dpbayes.experiments.arrow_prices import arrow_errors",
        value_in_python("reading", planned_for(chosen, arrows).reading),
        f"places = {places!r}",
        "taken = [mechanisms[place] for place in places]",
        *_mechanisms_on(chosen, priced),
        "def rng(place):  # anew for every network",
        f'    return stream({seed!r}, "network", "errors", places[place])',
        f"plan, at_once = Plan(tables, reading, {POINTS}), {tables_at_once(chosen.network)}",
        "work = arrow_errors(plan, mechanisms_on, network.edges, rng, at_once=at_once)",
        "without = finished(work).without",
        "labels = [mechanism.label for mechanism in taken]",
        "print({arrow: dict(zip(labels, errors.means)) for arrow, errors in without.items()})",
    ]


def _mechanisms_on(chosen: Chosen, priced: ArrowErrors) -> list[str]:
    """Return the code of the same mechanisms without an arrow, with the defaults of the smaller network."""
    prior = f"dp.Dirichlets.symmetric(shorter, {chosen.settings.prior!r})"
    suited = {
        arrow: {
            mechanism.label: others
            for mechanism, drawn in zip(errors.mechanisms, priced.drawn.mechanisms, strict=True)
            if (others := _others(mechanism, drawn))
        }
        for arrow, errors in priced.without.items()
    }
    start = ["from dataclasses import replace", "def mechanisms_on(shorter):", f"    prior = {prior}"]
    if not any(suited.values()):
        return [*start, "    return [replace(mechanism, prior=prior) for mechanism in taken]"]
    return [
        f"suited = {suited!r}  # without this arrow",
        *start,
        "    others = next((suited[arrow] for arrow in network.edges if arrow not in shorter.edges), {})",
        "    return [replace(mechanism, prior=prior, **others.get(mechanism.label, {})) for mechanism in taken]",
    ]


def _others(mechanism: Any, drawn: Any) -> dict[str, Any]:
    """Return the parameters of a mechanism that differ from those of the network as it is drawn."""
    names = parameters_of(type(mechanism))
    return {name: getattr(mechanism, name) for name in names if getattr(mechanism, name) != getattr(drawn, name)}


def _tables(chosen: Chosen) -> str:
    """Return the code that makes `network` and the planned `tables`."""
    numbers = f"{planned_records(chosen)}, {planned_size(chosen)}"
    drawn = f'{numbers}, stream({chosen.seed!r}, "network", "tables"), fitted=network'
    tables = "from dpbayes.experiments.least_epsilon.tables import"
    if chosen.public_source is None:
        lines = (
            f"{tables} evenly_planned_tables",
            network_in_python(chosen.network),
            "columns = dict(sorted(zip(network.names, network.states)))",
            "source = dp.Network.from_edges(columns, [], columns)",
            f"tables = evenly_planned_tables(source, {drawn})",
        )
        return "\n".join(lines)
    source = f"{public_source_in_python(chosen)}\nsource = network\n{network_in_python(chosen.network)}"
    return f"{tables} planned_tables\n{source}\ntables = planned_tables(source, probabilities, {drawn})"
