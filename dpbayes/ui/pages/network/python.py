"""The numbers of the Network page, asked from Python."""

from dpbayes.ui.pages.best_noise.answers import public_cpts
from dpbayes.ui.pages.network.errors import (
    POINTS,
    compared,
    is_too_large,
    planned_reading,
    planned_records,
    planned_size,
    tables_at_once,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.from_python import FACE, STREAM, network_in_python, program, value_in_python


def python_of(chosen: Chosen, *, searched: bool) -> str:
    """Return the code that gives the errors of the headline; of a network too large for these the noise per cell."""
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
        value_in_python("mechanisms", compared(chosen, searched=searched)),
        f"plan = Plan(tables, reading, {POINTS})",
        f'streams = [stream({seed!r}, "network", "errors", place) for place in range(len(mechanisms))]',
        f"work = planned_errors(plan, mechanisms, streams.__getitem__, at_once={tables_at_once(network)})",
        "print({each.label: error for each, error in zip(mechanisms, finished(work).means)})",
    )


def _tables(chosen: Chosen) -> str:
    """Return the code that makes `network` and the planned `tables`."""
    numbers = f"{planned_records(chosen)}, {planned_size(chosen)}"
    drawn = f'{numbers}, stream({chosen.seed!r}, "network", "tables")'
    tables = "from dpbayes.experiments.least_epsilon.tables import"
    if public_cpts(chosen)[1]:
        named = f"network, probabilities = dp.load_named({chosen.settings.fitted!r})"
        return f"{tables} planned_tables\n{named}\ntables = planned_tables(network, probabilities, {drawn})"
    named = network_in_python(chosen.network)
    return f"{tables} evenly_planned_tables\n{named}\ntables = evenly_planned_tables(network, {drawn})"
