"""Controls come from the mechanisms' own parameters."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.text import letters
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS
from dpbayes.ui.pages.release import ADAPTIVE
from dpbayes.ui.session.settings import EXPLORED_NAMES, PARAMETERS, title_at_sentence_start
from dpbayes.ui.widgets import controls
from tests.conftest import IS_THOROUGH, thorough
from tests.pages.conftest import fine, one_sentence, open_page, put, sentences, settings_of, unfold

RELEASING = [mechanism for mechanism in (*MECHANISMS, *OF_RECORDS) if mechanism.__name__ in EXPLORED_NAMES]


@pytest.mark.parametrize("mechanism", RELEASING, ids=EXPLORED_NAMES)
def test_every_parameter_of_a_mechanism_has_a_control(mechanism: type) -> None:
    """What mechanisms share is turned to its ends for the first of them: the control is made of its name alone."""
    at = open_page("pages/explore.py", mechanism=mechanism.__name__)
    before = RELEASING[: RELEASING.index(mechanism)]
    turned = {name: note for earlier in before for name, note in parameters_of(earlier).items()}
    for name, parameter in parameters_of(mechanism).items():
        assert parameter == PARAMETERS[name]
        if name == "epsilon":  # the slider of the board
            continue
        if not IS_THOROUGH and turned.get(name) == parameter:
            keys = {control.key for control in (*at.select_slider, *choices(at))}
            assert f"parameter.{name}" in keys
        elif isinstance(parameter, Parameter):
            slider = at.select_slider(key=f"parameter.{name}")
            assert slider.label.endswith(f" ({letters(parameter.symbol)})")
            put(at, f"box.{name}", str(parameter.high))
            assert settings_of(at).parameter(name) == parameter.high
            put(at, f"box.{name}", str(2 * parameter.high))
            one_sentence(at, f"{title_at_sentence_start(name)} must be between")
            put(at, f"box.{name}", str(parameter.low))
            assert settings_of(at).parameter(name) == parameter.low
            if IS_THOROUGH:
                put(at, f"box.{name}", str(parameter.typical))
        else:
            for option in reversed(parameter.options):
                control = next(choice for choice in choices(at) if choice.key == f"parameter.{name}")
                fine(control.set_value(option).run())
                assert settings_of(at).parameter(name) is option
    assert not sentences(at)


def choices(at: AppTest) -> list[Any]:
    """The lists and the rows of buttons; which one a choice is depends on its letters."""
    return [*at.selectbox, *at.get("button_group")]


LAB = {"lab.experiment": "Regression", "regression.repeats": "3"}
GAME = {"lab.experiment": "Query game", "sampling.answers": "20"}

NO_NUMBERS = ("nan", "text", "<b>", "\N{SNOWMAN}")

BAD_NUMBERS: list[tuple[str, dict[str, str], str, str, tuple[str, ...]]] = [
    ("lab", GAME, "sampling.answer_epsilon", "3", ("0", "-1", "inf", "-inf", "1e99", "1,5", "$x$")),
    ("explore", {}, "prior", "2", ("0", "0.5.5", "3,5", "1e99")),
    ("explore", {}, "seed", "2", ("0.5.5", "-1", "1e99")),
    ("data", {"records": "77"}, "records", "1,080", ("-1", "1e9", "2,5")),
    ("release", {}, "release.epsilon", "3.5", ("0", "3,5", "1,000", "2..5")),
    ("release", {"mechanism": ADAPTIVE}, "release.delta", "10^-6", ("-1", "1,5", "1e99", "1/3", "2")),
    ("lab", LAB, "regression.repeats", "2", ("0", "1e10")),
    ("lab", LAB, "regression.draws", "2", ("2.5",)),
]
"""Pages, their settings, a box, a number for it, and texts that are none, besides NO_NUMBERS."""

REFUSED = [
    (*case, (*texts, *thorough(NO_NUMBERS, sample=[NO_NUMBERS[place % len(NO_NUMBERS)]])))
    for place, (*case, texts) in enumerate(BAD_NUMBERS)
]


def test_a_box_that_is_emptied_keeps_its_number() -> None:
    at = open_page("pages/explore.py", epsilon="3")
    chosen = settings_of(at)
    put(at, "box.seed", " ")
    assert settings_of(at) == chosen
    assert at.text_input(key="box.seed").value == "1"
    assert not sentences(at)


def test_only_another_text_of_a_box_is_applied() -> None:
    typed: list[str] = []
    for text in ("0.2372", "", "3"):
        controls._attempt("box.t", "0.2372", text, typed.append)
    assert typed == ["3"]


@pytest.mark.parametrize(("page", "query", "name", "good", "texts"), REFUSED)
def test_a_bad_number_gives_one_sentence_and_keeps_the_last(
    page: str, query: dict[str, str], name: str, good: str, texts: tuple[str, ...]
) -> None:
    at = open_page(f"pages/{page}.py", **query)
    at = unfold(at, "lab.more") if query is LAB else at
    settings, shown = settings_of(at), at.text_input(key=f"box.{name}").value
    for text in texts:
        put(at, f"box.{name}", text)
        one_sentence(at, f"The value is still {shown}.")
        assert settings_of(at) == settings
    assert not sentences(put(at, f"box.{name}", good))


@pytest.mark.parametrize("name", [name for name, parameter in PARAMETERS.items() if isinstance(parameter, Parameter)])
def test_a_slider_stops_at_the_typical_value_and_never_out_of_range(name: str) -> None:
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    stops = parameter.stops
    assert parameter.typical in stops
    assert list(stops) == sorted(set(stops))
    assert all(parameter.checked(name, stop) == stop for stop in stops)
