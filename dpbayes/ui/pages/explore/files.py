"""The files that Explore offers: a simulated release, a handout, and the Python code of the page."""

import json
import math
from collections.abc import Iterable

import numpy as np

from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.releases.views.handout import Handout, html_handout
from dpbayes.releases.views.reading import prior_warning
from dpbayes.ui.pages.explore.answers import Answered
from dpbayes.ui.pages.explore.averages import releases_read
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS, Readings
from dpbayes.ui.pages.explore.simulations import releases_to_simulate
from dpbayes.ui.session.chosen import Chosen, target_and_evidence
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.from_python import FACE, PATH, STREAM, counts_in_python, mechanism_in_python, program
from dpbayes.ui.widgets.show import sentence_instead

# A simulated release


_MOST_READ = 10_000
"""Cells of a network whose release is still written for a person to read."""

_MOST_CONCLUDED = 1_500
"""Cells of a network whose intervals are in the file: those of more take seconds."""


def release_json(release: Release[Outcome], network: Network) -> bytes:
    """Return one simulated release as JSON: network, outcome, guarantee and public facts, nothing else.

    If the release states its noise, the file contains the description of the noise. For a network that is not too
    large, it also contains the noise-aware mean and 95% interval of every probability, which follow from the rest. The
    file states that its noise came from a seeded generator, which is no protection.
    """
    values = _arrays(release.outcome) | _concluded(release, network)
    rows = {name: _by_row(network, cells) for name, cells in values.items()}
    content = {
        "kind": "simulated release: seeded noise, for demonstration only",
        "mechanism": release.mechanism,
        "guarantee": _promise(release.guarantee),
        "public": dict(release.public),
        **_noise_facts(release.outcome),
        "network": {
            name: {"states": states, "parents": parents}
            for name, states, parents in zip(network.names, network.states, network.parents, strict=True)
        },
        "rows": [
            {"row": label} | {name: values[row] for name, values in rows.items()}
            for row, label in enumerate(network.row_labels())
        ],
    }
    # Indentation makes half a million rows ten times as slow.
    indent = 2 if network.cell_count <= _MOST_READ else None
    return json.dumps(content, indent=indent, ensure_ascii=False, allow_nan=False).encode()


def _promise(guarantee: Guarantee) -> dict[str, object]:
    """Return a promise by the names of its parts; rho only where one is promised."""
    rho = {"rho": guarantee.rho} if math.isfinite(guarantee.rho) else {}
    return {
        "epsilon": guarantee.epsilon if guarantee.is_private else None,
        "delta": guarantee.delta,
        **rho,
        "neighbours": guarantee.neighbours.value,
        "source": str(guarantee.reference),
    }


def _noise_facts(outcome: Outcome) -> dict[str, object]:
    """Return the description of the noise, if the release states it."""
    if not isinstance(outcome, ReleasedPosterior) or outcome.noise_model is None:
        return {}
    return {"noise": outcome.noise_model.description}


def _concluded(release: Release[Outcome], network: Network) -> dict[str, FloatArray]:
    """Return what the recipient of one release may conclude with its noise in mind: arrays (..., K)."""
    if not release.tells_noise or network.cell_count > _MOST_CONCLUDED:
        return {}
    aware = release.noise_aware()
    return {"mean": aware.mean, f"{LEVEL:.0%} interval": np.stack(aware.interval(LEVEL))}


def _by_row(network: Network, values: FloatArray) -> list[object]:
    """Return values (..., K) as one list of (..., r) for each row."""
    cells: list[object] = []
    for first, rows, card in zip(network.cell_offsets, network.rows_per_node, network.cards, strict=False):
        table = values[..., first : first + rows * card].reshape(*values.shape[:-1], rows, card)
        cells += np.moveaxis(table, -2, 0).tolist()
    return cells


def _arrays(outcome: Outcome) -> dict[str, FloatArray]:
    """Return what the outcome of one release holds, by name: arrays (..., K)."""
    if isinstance(outcome, ReleasedPosterior):
        return {"prior": outcome.prior.alpha, "posterior": outcome.posterior.alpha}
    if isinstance(outcome, SampledCpts):
        return {"draws": outcome.draws}
    return {"probabilities": outcome.probabilities}


# The handout


def handout_button(chosen: Chosen, readings: Readings, answered: Answered | None) -> None:
    """Offer the sheet of the question; one that has no answer gets its sentence."""
    with sentence_instead():
        sheet = html_handout(handout_of(chosen, readings, answered))
        name = offered_name("handout", "html", simulates=True)
        download_button("Handout (HTML)", sheet, name, "text/html", key="handout")


def handout_of(chosen: Chosen, readings: Readings, answered: Answered | None) -> Handout:
    """Return the first simulated release's answer to the question. Errors: InputError where it has no answer."""
    (target, given), network = target_and_evidence(chosen), chosen.network
    _, private = readings.shown.query(target, given)
    names = _readable(chosen, (target, *given))
    condition = ", ".join(assignment(names[name], state) for name, state in given.items())
    release, states = readings.shown.release, network.states[network.index(target)]
    answer = None if answered is None else answered.answer
    intervals = () if answer is None else zip(states, zip(answer.low, answer.high, strict=True), strict=True)
    return Handout(
        question=f"P({names[target]} | {condition})" if condition else f"P({names[target]})",
        table=chosen.data_title,
        n=chosen.counts.n,
        mechanism=release.mechanism,
        guarantee=release.guarantee,
        answer=dict(zip(states, map(float, private[0] if answer is None else answer.mean), strict=True)),
        intervals={state: (float(low), float(high)) for state, (low, high) in intervals},
        warning="" if answer is None else prior_warning(answer),
        published={readable: name for name, readable in names.items() if readable.casefold() != name.casefold()},
    )


def _readable(chosen: Chosen, names: Iterable[str]) -> dict[str, str]:
    """Return what nodes are called in a sentence; by their own names where they have no others."""
    return {name: chosen.readable[name].name if name in chosen.readable else name for name in names}


# Python code


def python_of(chosen: Chosen, readings: Readings) -> str:
    """Return the code that gives the headline's number, with the very noise; no table and no seed for the recipient."""
    if not chosen.is_curator:
        return _from_the_file(chosen, readings)
    mechanism = chosen.mechanism
    seeded = f'stream({chosen.seed!r}, "release", {type(mechanism).__name__!r})'
    records = [] if chosen.statistic is chosen.counts else ["counts = mechanism.statistic(data)"]
    parts = [
        FACE,
        STREAM,
        "from dpbayes.experiments.releases import study_release",
        counts_in_python(chosen),
        mechanism_in_python(mechanism),
        *records,
        f"study = study_release(mechanism, counts, {seeded}, {releases_to_simulate(mechanism)})",
    ]
    if readings.is_averaged:
        parts.append(f"study = study.knowing_noise({releases_read(readings)}, points={AVERAGED_POINTS})")
    return program(*parts, "print(study.shift.mean())")


def _from_the_file(chosen: Chosen, readings: Readings) -> str:
    """Return the code that reads the probability in the picture off the file of the first release."""
    net = chosen.network
    row = int(net.row_of_cell[readings.cell])
    state = readings.cell - net.cells_of_row(row).start
    lookup = f'row = next(row for row in release["rows"] if row["row"] == {net.row_label(row)!r})'
    file = offered_name("release", "json", simulates=True)
    read = f"release = json.loads(Path({file!r}).read_bytes())  # Download this simulated release"
    return program("import json", PATH, read, lookup, *_read(readings, state))


def _read(readings: Readings, state: int) -> tuple[str, ...]:
    """Return the lines that read one state's probability in a row of the file, as the page's recipient reads it."""
    outcome = readings.as_real.release.part(0).outcome
    if readings.is_noise_aware:
        return (f'print(row["mean"][{state}])',)
    if readings.as_real.is_posterior:
        return (f'print(row["posterior"][{state}] / sum(row["posterior"]))',)
    if hasattr(outcome, "draws"):
        return (f'print(sum(draw[{state}] for draw in row["draws"]) / len(row["draws"]))',)
    return (f'print(row["probabilities"][{state}])',)
