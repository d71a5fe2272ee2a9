"""Until a guess is made, no part of its page tells the answer: neither in a text, a number nor a picture."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.amounts import epsilon_rounded_up
from dpbayes.base.text import numeral
from dpbayes.ui.pages.stories.banner import DOWNLOADED
from dpbayes.ui.pages.stories.opened import STORIES
from dpbayes.ui.pages.stories.quantities import QUANTITIES, Answer, Quantity
from dpbayes.ui.session.chosen import Chosen
from tests.conftest import thorough
from tests.pages.conftest import decoded, everything, fine, open_page, press, put

GUESSES = {
    f"{key} {number}": (key, number, step.guess.quantity)
    for key, story in STORIES.items()
    for number, step in enumerate(story.steps, start=1)
    if step.guess is not None
}

ABOVE = ("bar", "over")
"""The bar of all pages, and the banner with the question."""

OPENED = {"make", "person-open", "plan"}
"""Parts that are filled once they are opened, and tell no answer: what a release needs, its plan, what ε means, and
what a graph that is chosen privately costs."""

MOST_MARKS = 40
"""Numbers of a picture that a person could read off, as bars and dots are; a curve has more."""

COMPARED = {
    "mechanism with the smaller error": ("absolute error", "difference", "diff."),
    "mechanism with less noise": ("noise",),
    "most accurate mechanism": ("right in", "ahead", "overtakes", "best known"),
    "mechanism nearer to a die": ("misses", "wins", "median"),
}
"""Words beside a number and an option's name that tell a choice."""


@pytest.mark.parametrize(
    "guess", thorough(sorted(GUESSES), sample=["clinic 2", "exercise 1", "exercise 3", "paper 2", "votes 1"])
)
def test_until_a_guess_is_made_the_answer_stands_in_covered_parts_alone(
    guess: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, number, name = GUESSES[guess]
    at, quantity = open_page("pages/home.py", story=key, step=str(number)), QUANTITIES[name]
    (cover,) = covers(at)
    assert set(re.findall(r"\.st-key-([\w-]+)", cover)) == set(quantity.answer_parts)
    assert set(re.findall(r'\[class\*="st-key-([\w-]+)"\]', cover)) == set(DOWNLOADED)
    shown = [(path, text) for path, text in texts(at) if not set(path) & set(ABOVE)]
    answer = answer_of(at, key, number, quantity, monkeypatch)
    assert not covers(at)
    telling = [(path, text) for path, text in shown if tells(text, answer, name)]
    assert not [(path[-2:], text[:200]) for path, text in telling if not set(path) & set(quantity.answer_parts)]
    assert telling or _is_of_one_digit(answer), "what is covered tells it"


@pytest.mark.parametrize("pressed", ["", "Show", "Next", "Leave"])
def test_what_covers_is_replaced_in_its_place(pressed: str) -> None:
    """A browser keeps what is missing until a run has ended: a page that works would stay covered."""
    at = open_page("pages/home.py", story="clinic", step="2")
    (covered,) = [k for k, html in enumerate(styles(at)) if "Guess first" in html]
    at = press(at, pressed) if pressed else put(at, "story.guess.clinic.2", "12.5")
    assert len(styles(at)) > covered
    assert "st-key" not in styles(at)[covered]


@pytest.mark.parametrize(("key", "number"), [("clinic", "2"), ("votes", "1")])
def test_what_is_presented_is_guessed_first_too(key: str, number: str) -> None:
    at = open_page("pages/home.py", story=key, step=number, present="1")
    assert covers(at)
    assert "**Guess:**" in everything(at)
    press(at, "Show")
    assert not covers(at)
    assert not [button for button in at.button if button.label == "Show"]


def styles(at: AppTest) -> list[str]:
    """Return the styles of a page in their places, which are not in any of its parts."""
    return [html.proto.body for html in at.get("html") if html.proto.body.startswith("<style>")]


@pytest.mark.parametrize("guess", thorough(sorted(GUESSES), sample=["clinic 2", "paper 2"]))
def test_what_is_opened_on_demand_is_covered_too(guess: str) -> None:
    key, number, name = GUESSES[guess]
    at = open_page("pages/home.py", story=key, step=str(number))
    covered = {*ABOVE, *QUANTITIES[name].answer_parts}
    empty = {path[-1] for path, block in blocks(at) if block.type == "expander" and not block.children
             and not set(path) & covered}  # fmt: skip
    assert {part for part in empty if not part.startswith(DOWNLOADED)} <= OPENED


@pytest.mark.parametrize(
    ("text", "answer", "name", "is_revealed"),
    [
        ("In all 33 rows.", 33.0, "rows", True),
        ("In all 330 rows of 1.33.", 33.0, "rows", False),
        ("It is 0.434 of yes.", 43.39, "released probability", True),
        ("It is 43% of yes.", 43.39, "released probability", True),
        ("It is 0.4 of yes.", 43.39, "released probability", False),
        ("ε = 0.0942 keeps it", 0.095, "least epsilon", True),
        ("Fourier noise 14.2, Laplace noise 15.8", "Fourier", "mechanism with less noise", True),
        ("Fourier 0.1, Laplace 0.2", "Fourier", "mechanism with less noise", False),
    ],
)
def test_what_tells_an_answer_is_noticed(text: str, answer: Answer, name: str, is_revealed: bool) -> None:
    assert tells(text, answer, name) == is_revealed


# What a page shows


def covers(at: AppTest) -> list[str]:
    """Return what covers the parts that tell an answer."""
    return [html.proto.body for html in at.get("html") if "Guess first" in html.proto.body]


def answer_of(at: AppTest, key: str, number: int, quantity: Quantity, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """Guess, and return the answer that this is compared with."""
    answers: list[Answer] = []

    def answer(quantity: Quantity, chosen: Chosen) -> Answer:
        answers.append(quantity.of(chosen))
        return answers[-1]

    monkeypatch.setattr(Quantity, "answer", answer)
    place = f"story.guess.{key}.{number}"
    if quantity.options:
        fine(at.radio(key=place).set_value(quantity.options[0]).run())
    else:
        put(at, place, "12.5")
    return answers[0]


def tells(text: str, answer: Answer, name: str) -> bool:
    """Whether a text tells an answer: a number that is the same in the digits it has, or a word on who is nearer."""
    if isinstance(answer, str):
        options = [option for option in QUANTITIES[name].options if option in text]
        return len(options) > 0 and any(word in text for word in COMPARED[name]) and bool(re.search(r"\d", text))
    is_share = QUANTITIES[name].unit in ("%", "points of 100")
    answers = [answer, answer / 100] if is_share else [answer]
    shown = numbers(text)
    if name == "least epsilon":  # its sentence rounds it up; a picture does not
        return any(float(digits) > 0 and epsilon_rounded_up(float(digits)) == answer for digits in shown)
    return any(_is_same(digits, one) for digits in shown for one in answers)


def numbers(text: str) -> list[str]:
    """Return the numbers of a text as they stand there."""
    matches = re.findall(r"(?<![\w.,#−-])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?(?![\w])", text)
    return [digits.replace(",", "") for digits in matches]


def _is_of_one_digit(answer: Answer) -> bool:
    """Whether an answer is such a number as stands everywhere, as an ε of 0.5 does; its page's parts are covered."""
    return not isinstance(answer, str) and len(numeral(answer).replace(".", "").strip("0")) < 2


def _is_same(shown: str, answer: float) -> bool:
    digits = len(re.sub(r"e.*|\.", "", shown).lstrip("0"))
    if digits < 2:
        return False
    return numeral(float(shown), min(digits, 4)) == numeral(answer, min(digits, 4))


def blocks(at: AppTest) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield from ((path, node) for path, node in _nodes(at._tree[0], ()) if hasattr(node, "children"))


def texts(at: AppTest) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what every element of a page says, with the keys of all that it stands in."""
    for path, node in _nodes(at._tree[0], ()):
        if not hasattr(node, "children") and node.type not in WITHOUT_ANSWERS:
            yield path, _said(node)


WITHOUT_ANSWERS = ("code", "text_input", "select_slider", "selectbox", "button_group", "multiselect", "html")
"""What a person sets, and code, which prints a number only when it is run."""


def _nodes(block: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for node in block.children.values():
        within = (*path, _key(node))
        yield within, node
        if hasattr(node, "children"):
            yield from _nodes(node, within)


def _key(node: Any) -> str:
    """Return the key of an element as its CSS class has it, empty without one."""
    match = re.match(r"\$\$(?:ID|GENERATED)-[0-9a-f]{32}-(.*)$", getattr(node.proto, "id", ""), re.DOTALL)
    return re.sub(r"[^a-zA-Z0-9_-]", "-", match.group(1)) if match else ""


def _said(node: Any) -> str:
    if node.type == "bidi_component":
        return _of_chart(node.proto) if node.proto.component_name == "dpbayes_chart" else ""
    if node.type == "metric":
        return f"{node.label} {node.value} {node.delta}"
    if hasattr(node, "value") and hasattr(node.value, "to_csv"):
        return " ".join(f"{label} {value}" for label, column in node.value.items() for value in column)
    return f"{getattr(node, 'label', '')} {getattr(node, 'value', '')}"


def _of_chart(proto: Any) -> str:
    chart = json.loads(proto.bytes)
    return f"{chart['alt']} {json.dumps(_read_off(decoded(chart['figure'])['data']))}"


def _read_off(value: Any) -> Any:
    """Return what can be read off traces: names, texts, and the numbers of bars and dots."""
    if isinstance(value, dict):
        return {key: _read_off(inner) for key, inner in value.items() if key in ("x", "y", "name", "text")}
    if isinstance(value, list):
        is_curve = len(value) > MOST_MARKS and not any(isinstance(item, dict | list | str) for item in value)
        return [] if is_curve else [_read_off(item) for item in value]
    return value
