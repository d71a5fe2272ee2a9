"""What every page shows at the ends of its options: a picture, and numbers that a person can read."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.parameters import Parameter
from dpbayes.ui.session.link import settings_from
from dpbayes.ui.session.options import Experiment
from dpbayes.ui.session.settings import PARAMETERS
from tests.conftest import IS_THOROUGH, thorough
from tests.pages.conftest import PAGES, boards, figures, fine, open_page, sentences
from tests.pages.numbers import wrong_numbers
from tests.pages.screen import options_of

CONTEXTS: dict[str, list[dict[str, str]]] = {
    "lab": [
        {"lab.experiment": experiment.value, "epsilon": epsilon, "hellinger.delta": "1e-12"}
        for experiment, epsilon in zip(Experiment, ["0.001", *["1000"] * 5], strict=True)
    ],
}
"""The choices that decide which options a page has, at ends of the parameters of its mechanism."""


LARGE = {"audit.n": "500", "regression.repeats": "20", "regression.draws": "100"} | {
    "accuracy.repeats": "5",
    "accuracy.training": "500",
    "hellinger.n": "100",
    "hellinger.sides": "2",
    "sampling.columns": "8",
}
"""What by default is less than its high end, where one step of some work would take ten seconds."""


def numeric(page: str) -> list[str]:
    return [name for name, note in options_of(page).items() if isinstance(note, Parameter)]


def contexts(page: str) -> list[dict[str, str]]:
    """Return the choices of a page; those of Proofs have tests of their own, most of them without a page."""
    return CONTEXTS.get(page, [{}])


def shown(page: str, query: dict[str, str], session: AppTest | None = None) -> AppTest:
    """Return a page, or a session that is on it already, once its picture is there, or its work on it."""
    at = open_page(f"pages/{page}.py", **query) if session is None else turned(session, query)
    for _ in range(50):
        if figures(at) or boards(at) or at.get("progress"):
            return at
        fine(at.run())
    raise AssertionError(f"{page} shows no picture with {query}: {sentences(at)}")


def turned(at: AppTest, query: dict[str, str]) -> AppTest:
    """Return the same session at the settings of a link: what it has loaded it has not to load again."""
    at.session_state["settings"], problems = settings_from(query)
    assert not problems
    return fine(at.run())


def options_in(page: str, context: dict[str, str], at: AppTest) -> dict[str, Parameter]:
    """Return the numeric options that the page offers in a context; all it has, unless thorough, without a look."""
    options = {name: parameter for name in numeric(page) if isinstance(parameter := PARAMETERS[name], Parameter)}
    if not IS_THOROUGH:
        return options
    keys = {slider.key for slider in shown(page, context, at).select_slider}
    return {name: parameter for name, parameter in options.items() if f"parameter.{name}" in keys}


NUMERIC = [name for page in PAGES if numeric(name := Path(page).stem)]
"""The pages with numeric options."""


def ends_of(numbers: dict[str, Parameter], place: int) -> list[dict[str, str]]:
    """Return what to set the options to: each at one of its ends, at the other one in the next place; or at both."""
    low = {name: str(note.low) for name, note in numbers.items()}
    high = {name: str(note.high) for name, note in numbers.items()}
    alone = [{name: end} for end_of in (low, high) for name, end in end_of.items()]
    large = high | {name: size for name, size in LARGE.items() if name in high}
    by_turns = {name: (low, large)[(place + k) % 2][name] for k, name in enumerate(large)}
    return thorough([low, large, high, *alone, by_turns], sample=[by_turns])


@pytest.mark.parametrize("page", NUMERIC)
def test_every_option_at_its_ends_shows_a_picture(page: str) -> None:
    """What is too much is said in a sentence that has the nearest possible value, and that is what is shown."""
    at = open_page(f"pages/{page}.py", **contexts(page)[0])
    for place, context in enumerate(contexts(page)):
        for ends in ends_of(options_in(page, context, at), place):
            shown(page, context | ends, at)
            assert not wrong_numbers(at)
            assert all("nearest possible setting" in sentence for sentence in sentences(at)), (context, ends)
