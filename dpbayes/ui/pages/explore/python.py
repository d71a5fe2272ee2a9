"""The same from Python: the curator's averages over simulated releases; for the recipient, what her file says."""

from dpbayes.ui.pages.explore.averages import releases_read
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS, Readings
from dpbayes.ui.pages.explore.simulations import releases_to_simulate
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.from_python import FACE, PATH, STREAM, counts_in_python, mechanism_in_python, program


def python_of(chosen: Chosen, readings: Readings) -> str:
    """Return the code that gives the headline's number, with the very noise; no table and no seed for the recipient."""
    if not chosen.is_curator:
        return _from_the_file(chosen, readings)
    mechanism = chosen.mechanism
    seeded = f'stream({chosen.seed!r}, "release", {type(mechanism).__name__!r})'
    parts = [
        FACE,
        STREAM,
        "from dpbayes.experiments.releases import study_release",
        counts_in_python(chosen),
        mechanism_in_python(mechanism),
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
