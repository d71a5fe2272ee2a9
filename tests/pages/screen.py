"""What a person does on a page, and what the page shows, as Streamlit runs it without a browser."""

import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from streamlit.testing.v1 import AppTest

from dpbayes.base.parameters import Choice, Parameter
from dpbayes.ui.session.options import described_options
from dpbayes.ui.session.settings import Seat, Settings

APP = Path(__file__).parents[2] / "app.py"
NAVIGATION = (APP.parent / "dpbayes" / "ui" / "app.py").read_text(encoding="utf-8")
PAGES = tuple(re.findall(r'st\.Page\("(pages/\w+\.py)"', NAVIGATION))

WITHOUT_DATA = ("pages/home.py",)
"""Pages that need no table."""

GROUPS = {
    "explore": ("release", "explore"),
    "lab": ("lab", "accuracy", "regression", "sampling", "hellinger"),
    "proofs": ("proofs", "audit", "bounds"),
}
"""The groups of options of a page."""


def options_of(page: str) -> dict[str, Parameter | Choice]:
    """Return the options of a page by the name they have in the link."""
    return {name: note for name, note in described_options().items() if name.partition(".")[0] in GROUPS.get(page, ())}


NO_LIMIT = 3600.0
"""Seconds a run may take. AppTest wants a number; what is slow is for the benchmarks to say, not for a test."""


class Caught(logging.Handler):
    """Collects what the guard around the pages caught and nobody foresaw, as its tracebacks."""

    def __init__(self) -> None:
        super().__init__()
        self.tracebacks: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.tracebacks.append(logging.Formatter().format(record))


CAUGHT = Caught()


def open_page(page: str, settings: Settings | None = None, **query: str) -> AppTest:
    """Return a page as a link with this query, or a session with these settings, opens it."""
    at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
    for key, value in query.items():
        at.query_params[key] = value
    if settings is not None:
        at.session_state["settings"] = settings
    if page != "pages/home.py":
        at.switch_page(page)
    if page == "pages/explore.py" or "story" in query:  # what is closed on Explore is looked at, too
        for part in ("question", "dots", "measures", "rows", "guarantee", "settings"):
            at.session_state[f"{part}.open"] = True
    return fine(at.run())


def fine(at: AppTest) -> AppTest:
    """Return the page, having checked that it shows no traceback, and that none is behind a sentence of the guard."""
    assert not at.exception, [(error.message, error.stack_trace) for error in at.exception]
    assert not CAUGHT.tracebacks, "\n".join(CAUGHT.tracebacks)
    return at


def put(at: AppTest, key: str, text: str) -> AppTest:
    """Type into a text box."""
    return fine(at.text_input(key=key).set_value(text).run())


def unfold(at: AppTest, key: str) -> AppTest:
    """Open the folded part with this key."""
    at.session_state[key] = True
    return fine(at.run())


def press(at: AppTest, label: str) -> AppTest:
    """Press the button with this label."""
    return fine(next(button for button in at.button if button.label == label).click().run())


def take_seat(at: AppTest, seat: Seat) -> AppTest:
    """Choose the curator's or the recipient's view, which only some pages offer."""
    at.session_state["settings"] = replace(settings_of(at), seat=seat)
    return fine(at.run())


def settings_of(at: AppTest) -> Settings:
    settings = at.session_state["settings"]
    assert isinstance(settings, Settings)
    return settings


def plain(text: str) -> str:
    """Return escaped Markdown as the person reads it."""
    return text.replace("\\", "")


def banners(at: AppTest) -> list[str]:
    """Return what the banner of a story says, with its marks: a step's number, or the summary, follows its title."""
    return [m.value for m in at.markdown if re.match(r"\*\*.+\*\* · (\d+ of \d+|summary): ", m.value)]


def banner(at: AppTest) -> str:
    """Return what the banner says, as it is read; empty without one."""
    return " ".join(plain(text).replace("**", "") for text in banners(at))


def headline(at: AppTest) -> str:
    """Return the headline of the page, or of its board."""
    for board in boards(at):
        if said := frame_of(board)["headline"]:
            return str(said)
    return plain(next(m.value for m in at.markdown if m.value.startswith("## "))).removeprefix("## ")


def page_headline(at: AppTest) -> str:
    """Return the headline of the page above those of its boards."""
    return plain(next(m.value for m in at.markdown if m.value.startswith("## "))).removeprefix("## ")


def sentences(at: AppTest) -> list[str]:
    """Return every refusal on the page: warnings, and captions in red."""
    red = [c.value for c in at.caption if c.value.startswith(":red[")]
    return [plain(text) for text in [*(w.value for w in at.warning), *red]]


def one_sentence(at: AppTest, part: str) -> None:
    """Check that exactly one refusal is on the page, short, and about this."""
    refusals = sentences(at)
    assert len(refusals) == 1, refusals
    assert part in refusals[0]
    assert len(refusals[0]) < 400


def captions(at: AppTest) -> list[str]:
    """Return the captions on the page, as the person reads them."""
    return [plain(caption.value) for caption in at.caption]


def metrics(at: AppTest) -> dict[str, str]:
    """Return the values of the metrics on the page by their labels."""
    return {metric.label: metric.value for metric in at.metric}


def figures(at: AppTest) -> dict[str, dict[str, Any]]:
    """Return the figures of the boards without a slider, by their keys."""
    frames = {board["name"]: frame_of(board)["figures"] for board in boards(at)}
    return {name: shown["picture"] for name, shown in frames.items() if "picture" in shown}


def components(at: AppTest, name: str) -> list[Any]:
    """Return what the browser gets of each component of our own with this name."""
    return [element.proto for element in at.get("bidi_component") if element.proto.component_name == name]


def boards(at: AppTest) -> list[dict[str, Any]]:
    """Return the boards on the page as the browser gets them, with their texts and arrays in their places."""
    return [unpacked(proto.bytes) for proto in components(at, "dpbayes_view")]


def frame_of(board: dict[str, Any]) -> dict[str, Any]:
    """Return the first frame of a board at the stop that is shown."""
    frame: dict[str, Any] = board["shown"][board["value"]][0]
    return frame


def unpacked(data: bytes) -> dict[str, Any]:
    """Return the block behind the head of a message to a board, at the value of the head."""
    start = 4 + int.from_bytes(data[:4], "little")
    head, block = json.loads(data[4:start]), data[start:]
    end = 4 + int.from_bytes(block[:4], "little")
    values, numbers = json.loads(block[4:end]), np.frombuffer(block[end:], "<f4")

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        if "@" in value:
            return whole(values["parts"][value["@"]])
        if "$" in value:
            start, length = value["$"]
            return numbers[start : start + length]
        return {key: whole(inner) for key, inner in value.items()}

    shown = {key: whole(value) for key, value in values.items() if key != "parts"}
    return shown | ({"value": head["value"]} if shown["slider"] else {})


def board_texts(at: AppTest) -> list[str]:
    """Return what the boards on the page say at the stop that is shown."""
    texts = []
    for board in boards(at):
        frame = board["shown"][board["value"]][0]
        texts += [board["title"], (board["slider"] or {}).get("label", ""), frame["headline"]]
        texts += [*frame["notes"], *frame["captions"].values(), *(panel["title"] for panel in board["panels"])]
    return texts


def slide(at: AppTest, name: str, value: float) -> AppTest:
    """Let the hand rest at a value of a board's slider."""
    at.session_state["settings"] = settings_of(at).with_parameter(name, value)
    return fine(at.run())


def everything(at: AppTest) -> str:
    """Return all that the page shows or tells a screen reader, as one text."""
    shown = [repr(figures(at)), *board_texts(at)]
    shown += [frame.value.to_csv() for frame in at.dataframe]
    shown += [f"{m.label} {m.value} {m.delta}" for m in at.metric]
    for kind in (at.markdown, at.caption, at.info, at.warning, at.code, at.subheader, at.title):
        shown += [element.value for element in kind]
    for widgets in (at.button, at.selectbox, at.text_input, at.multiselect, at.toggle, at.expander):
        shown += [f"{widget.label} {getattr(widget, 'help', '')}" for widget in widgets]
    shown += [f"{button.label} {button.proto.help}" for button in at.get("download_button")]
    return "\n".join(shown)
