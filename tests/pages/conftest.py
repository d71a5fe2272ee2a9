"""Every page opened as Streamlit runs it, without a browser."""

import ctypes
import functools
import gc
import inspect
import itertools
import json
import logging
import math
import os
import re
from base64 import b64decode
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit import config
from streamlit.elements.widgets import selectbox, text_widgets
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.runtime.state.session_state_proxy import get_session_state
from streamlit.testing.v1 import AppTest, app_test, local_script_runner

from dpbayes.base.memo import Memo
from dpbayes.base.steps import Work
from dpbayes.experiments.hellinger import errors as errors_of_dice
from dpbayes.experiments.hellinger import study
from dpbayes.ui.pages.explore import simulations
from dpbayes.ui.pages.hellinger import page as hellinger
from dpbayes.ui.pages.network import errors
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import frames, guard, running, slider
from dpbayes.ui.widgets.running import Running
from tests.conftest import IS_THOROUGH

APP = Path(__file__).parents[2] / "app.py"
NAVIGATION = (APP.parent / "dpbayes" / "ui" / "app.py").read_text(encoding="utf-8")
PAGES = tuple(re.findall(r'st\.Page\("(pages/\w+\.py)"', NAVIGATION))

WITHOUT_DATA = (
    "pages/home.py",
    "pages/ledger.py",
    "pages/hellinger.py",
    "pages/regression.py",
)
"""Pages that need no table."""


NO_LIMIT = 3600.0
"""Seconds a run may take. AppTest wants a number; what is slow is for the benchmarks to say, not for a test."""


@pytest.fixture(autouse=True, scope="session")
def scripts_compiled_once() -> Iterator[None]:
    """Every run of an AppTest compiles the app and its page anew; here once for each state of a file."""
    compiled = ScriptCache.get_bytecode
    keep = functools.cache(lambda path, _changed: compiled(ScriptCache(), path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptCache, "get_bytecode", lambda _, path: keep(path, os.stat(path).st_mtime_ns))
        yield


@pytest.fixture(autouse=True, scope="module")
def nothing_is_kept_for_the_next_module() -> Iterator[None]:
    """What pages cache, and their sessions' circles, would fill a worker with a third of its memory by the end."""
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    freed()


TESTED = itertools.count(1)


@pytest.fixture(autouse=True)
def sessions_are_forgotten() -> Iterator[None]:
    """A session is a circle of many megabytes, which Python's collector seldom looks for: here after a few tests."""
    yield
    if next(TESTED) % 8 == 0:
        freed()


def freed() -> None:
    """Collect what nothing refers to, and hand its memory back: the C library would keep a fifth of a worker's."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # not every C library has it
        trim(0)


@pytest.fixture(autouse=True, scope="session")
def runs_awaited_asleep() -> Iterator[None]:
    """An AppTest asks a thousand times a second whether its run is over, on the core of the run; here it waits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", lambda runner, _timeout: runner.join())
        yield


@pytest.fixture(autouse=True, scope="session")
def a_runtime_mocked_once() -> Iterator[None]:
    """Every run of an AppTest mocks the runtime anew, which takes longer than what it asks of it; here it is one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_test, "MagicMock", functools.cache(app_test.MagicMock))
        yield


@pytest.fixture(autouse=True, scope="session")
def a_key_looked_up_alone() -> Iterator[None]:
    """A text box and a list ask for the value of one key, and Streamlit collects those of all keys first."""

    def looked_up() -> SimpleNamespace:
        return SimpleNamespace(filtered_state=get_session_state())

    with pytest.MonkeyPatch.context() as patch:
        for module in (text_widgets, selectbox):
            patch.setattr(module, "get_session_state", looked_up)
        yield


@pytest.fixture(autouse=True, scope="session")
def messages_not_hashed() -> Iterator[None]:
    """A browser is sent what it knows already by its hash; here is none."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script_run_context, "populate_hash_if_needed", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def no_head_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody draws a picture here."""
    monkeypatch.setattr("dpbayes.ui.widgets.page.HEAD_START", 0.0)


@pytest.fixture(autouse=True)
def no_hand_moves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that rests works out what its browser shows while a hand moves; nobody has a hand here.

    A test that is about it uses `frames_are_offered`.
    """
    if "frames_are_offered" not in request.fixturenames:
        monkeypatch.setattr("dpbayes.ui.widgets.page.offer_frames", lambda *_, **__: None)


@pytest.fixture
def frames_are_offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compute anew what the browser shows while a slider moves, as if it had requested it."""
    monkeypatch.setattr(frames, "is_wanted", lambda: True)
    frames.shared_frames.clear()
    yield
    frames.shared_frames.clear()


@pytest.fixture(autouse=True)
def no_releases_are_kept_for_all() -> None:
    """The releases that a server keeps for all its sessions begin anew with each test, which may change them."""
    simulations.shared_simulations.clear()


COMPUTED, RELEASES = Memo(most=500), Memo(most=16)
"""What tests have worked out that change nothing of the program, and the releases that they have simulated.

Releases take 1.5 MB each. Of 64 of them, the last 16 answer nearly as many requests.
"""

CHANGE_NOTHING = {"become", "files", "nothing_unforeseen", "tmp_path"}
"""What a test may ask for and still change nothing that is worked out."""


@pytest.fixture(autouse=True)
def work_is_computed_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that changes nothing takes what others have worked out under the same settings, unless thorough.

    So do the sessions of a server with the releases of public records. A test that asks for any other fixture works
    all out for itself.
    """
    fixtures = set(inspect.signature(request.function).parameters)
    fixtures |= {name for mark in request.node.iter_markers("usefixtures") for name in mark.args}
    fixtures -= set(request.node.callspec.params if hasattr(request.node, "callspec") else ())
    if IS_THOROUGH or not fixtures <= CHANGE_NOTHING:
        return
    kept = running._kept

    def shared(kind: str, key: Hashable, start: Callable[[], Running[Any]], **limits: int) -> Running[Any]:
        def begun() -> Running[Any]:
            work = start()
            if work.restart is None:
                work.steps = COMPUTED.once_in_steps((kind, key), as_they_are, work.steps)
            return work

        return kept(kind, key, begun, **limits)

    monkeypatch.setattr(running, "_kept", shared)
    monkeypatch.setattr(simulations, "shared_simulations", lambda: RELEASES)


def as_they_are(steps: Work[Any]) -> Work[Any]:
    return steps


@pytest.fixture(autouse=True)
def work_is_done_in_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page shows what is in after a moment and runs again to go on: here it works to the end first, unless thorough.

    A test that is about what is shown meanwhile says after how many steps.
    """
    if not IS_THOROUGH:
        monkeypatch.setattr("dpbayes.ui.widgets.running.FIRST", math.inf)


@pytest.fixture
def no_errors_are_kept_for_all() -> Iterator[None]:
    """For a test that changes how Network's errors are got, or looks at the steps: nothing is known before and after.

    Working them out is most of what opening the page takes. Other tests take what one has worked out under the same
    settings, as the sessions of a server do.
    """
    errors.shared_errors.clear()
    yield
    errors.shared_errors.clear()


@pytest.fixture(autouse=True)
def few_releases_are_averaged(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Release averages over hundreds of releases once the hand rests; here over those that come first, unless thorough.

    A test that is about all of them uses `many_releases_are_averaged`.
    """
    if not IS_THOROUGH and "many_releases_are_averaged" not in request.fixturenames:
        monkeypatch.setattr("dpbayes.ui.pages.explore.averages.MOST_CELLS", 0)
        monkeypatch.setattr("dpbayes.ui.pages.explore.averages.MOST_MEASURED", 50)


@pytest.fixture(autouse=True)
def curves_of_explore_have_few_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Explore simulates up to 400 releases at each epsilon of its curves, and splits a table 20 times; here fewer.

    Under `thorough` they are as many as on the page.
    """
    if not IS_THOROUGH:
        monkeypatch.setattr("dpbayes.ui.pages.explore.board.MOST_RELEASES", 50)
        monkeypatch.setattr("dpbayes.ui.pages.explore.board.REPEATS", 4)


@pytest.fixture(autouse=True)
def errors_are_planned_on_few_tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Network works out errors of every mechanism on a hundred planned tables once the hand rests, and of every arrow.

    That is most of what opening the page takes. Here they are of three mechanisms on two tables, and without an arrow
    counts are taken as real, unless thorough; a test that is about the errors uses `every_mechanism_is_weighed`, on
    four tables.
    """
    if not IS_THOROUGH:
        monkeypatch.setattr("dpbayes.ui.pages.network.errors.MOST_CELLS", 0)
        if "every_mechanism_is_weighed" not in request.fixturenames:
            monkeypatch.setattr("dpbayes.ui.pages.network.errors.FEWEST_TABLES", 2)
            monkeypatch.setattr("dpbayes.ui.pages.network.errors.MECHANISM_NAMES", WEIGHED)
            monkeypatch.setattr("dpbayes.ui.pages.network.arrows.MOST_READ", 0)


@pytest.fixture(autouse=True)
def curves_of_dice_have_few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hellinger enumerates a die's tables for each of a dozen epsilons and numbers of throws; here for four of them.

    The command and the page, which are held against each other, have the same ones.
    """
    if IS_THOROUGH:
        return
    for module in (hellinger, study):
        monkeypatch.setattr(module, "EPSILONS", errors_of_dice.EPSILONS[::4])
        monkeypatch.setattr(module, "SWEEP_DRAWS", 1_000)
        monkeypatch.setattr(module, "throws_grid", functools.partial(errors_of_dice.throws_grid, points=4))


WEIGHED = ("LaplaceUpdates", "LaplaceFourier", "PosteriorSampler")
"""One mechanism for all kinds of nodes that tells its noise, one for binary nodes, and one that is drawn one by one."""


@pytest.fixture
def every_mechanism_is_weighed() -> None:
    """Work out Network's errors of every mechanism."""


@pytest.fixture
def many_releases_are_averaged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Average over some more releases of a small network than come first."""
    monkeypatch.setattr("dpbayes.ui.pages.explore.averages.MOST_CELLS", 2_000)


_MOUNT = slider._mount


@pytest.fixture(autouse=True)
def numbers_without_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """AppTest knows no components: Streamlit's own slider and box stand in, and hand all to the same callback."""
    monkeypatch.setattr(slider, "_mount", _slider_and_box)


def _slider_and_box(*, key: str, data: dict[str, Any], on_move_change: Callable[[], None], **_: object) -> None:
    name, texts = key.removeprefix("number."), {json.loads(text): text for text in data["stops"].split()}
    moved, typed = f"parameter.{name}", f"box.{name}"

    def send(text: str) -> None:
        st.session_state[key] = {"move": {"text": text, "number": data["seen"] + 1}}
        on_move_change()

    st.session_state.update({moved: json.loads(data["value"]), typed: data["value"]})
    st.select_slider(
        data["label"],
        list(texts),
        key=moved,
        format_func=texts.__getitem__,
        help=data["help"],
        on_change=lambda: send(texts[st.session_state[moved]]),
    )
    st.text_input(f"{data['spoken']} as a number", key=typed, on_change=lambda: send(st.session_state[typed]))


@pytest.fixture
def numbers_as_in_a_browser(monkeypatch: pytest.MonkeyPatch, numbers_without_a_browser: None) -> None:
    """Leave the component where it is: a test says itself what its browser sends."""
    monkeypatch.setattr(slider, "_mount", _MOUNT)


class Caught(logging.Handler):
    """Collects what the guard around the pages caught and nobody foresaw, as its tracebacks."""

    def __init__(self) -> None:
        super().__init__()
        self.tracebacks: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.tracebacks.append(logging.Formatter().format(record))


CAUGHT = Caught()


@pytest.fixture(autouse=True, scope="session")
def tracebacks_shown() -> None:
    """People get none, by the configuration; a test that fails is to say why."""
    config.set_option("client.showErrorDetails", "full")


@pytest.fixture(autouse=True)
def nothing_unforeseen() -> Iterator[list[str]]:
    """What nobody foresaw fails the test, although the page shows only a sentence; a test that wants it clears it."""
    CAUGHT.tracebacks.clear()
    logging.getLogger(guard.__name__).addHandler(CAUGHT)
    yield CAUGHT.tracebacks
    logging.getLogger(guard.__name__).removeHandler(CAUGHT)
    assert not CAUGHT.tracebacks, "\n".join(CAUGHT.tracebacks)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server's ledger is, or will be."""
    monkeypatch.setenv("DPBAYES_LEDGER", str(tmp_path / "ledger.sqlite"))
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What pages offer as files, by name; the content of a file that is made on demand is a function."""
    real, offered = st.download_button, dict[str, Any]()

    def kept(label: str, data: Any, file_name: str, *other: Any, **more: Any) -> bool:
        offered[file_name] = data
        return real(label, data, file_name, *other, **more)

    monkeypatch.setattr(st, "download_button", kept)
    return offered


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a session holds, for what is tested without a page: long work does its first step."""
    state: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", state)
    monkeypatch.setattr("dpbayes.ui.widgets.running.FIRST", 0.0)
    return state


@pytest.fixture(autouse=True)
def navigation_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder named pages/ next to the script must not make every new test session run page files alone."""
    own_navigation(monkeypatch)


def own_navigation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `app.py` say which pages there are."""
    build = PagesManager.__init__

    def built(self: PagesManager, *args: Any, **more: Any) -> None:
        build(self, *args, **more)
        PagesManager.uses_pages_directory = False

    monkeypatch.setattr(PagesManager, "__init__", built)


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


RUN_AGAIN = "dpbayes.ui.widgets.page.run_again"
"""What runs a page again, so that its long work goes on."""


def stop_after_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let long work stop for the page after each step, and the page not run again by itself."""
    for name in ("FIRST", "MOMENT"):
        monkeypatch.setattr(f"dpbayes.ui.widgets.running.{name}", 0.0)
    monkeypatch.setattr(RUN_AGAIN, lambda: None)


@pytest.fixture
def first_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show the first step of long work, where it is the first look that counts; under `thorough` all work is done."""
    if not IS_THOROUGH:
        stop_after_a_step(monkeypatch)


def stopped_at_the_second_picture(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """Let each run of a page do one step of all its work, and stop that once, as the person would by the button.

    Returns a list that fills with how many steps each work had done whenever the page was about to run again, but for
    the pictures next to the posterior, which stop after a step.
    """
    for name in ("FIRST", "MOMENT"):
        monkeypatch.setattr(f"dpbayes.ui.widgets.running.{name}", 0.0)
    seen: list[list[int]] = []

    def again() -> None:
        kinds = sorted(key for key in st.session_state if key.endswith(".running"))
        works = [(key, work) for key in kinds for work in st.session_state[key].values()]
        own = [work for key, work in works if not key.startswith("explore.")]
        if any(work.going for work in own):
            seen.append([work.taken for work in own])
        for key, work in works:
            work.stopped = work.stopped or len(seen) == 2 or key.startswith("explore.")
        st.rerun()

    monkeypatch.setattr(RUN_AGAIN, again)
    return seen


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


def story_list(at: AppTest) -> Any:
    """Return the list of ready examples, None where the page has none."""
    return next((box for box in at.selectbox if box.label == "Story"), None)


def settings_of(at: AppTest) -> Settings:
    settings = at.session_state["settings"]
    assert isinstance(settings, Settings)
    return settings


def plain(text: str) -> str:
    """Return escaped Markdown as the person reads it."""
    return text.replace("\\", "")


def banners(at: AppTest) -> list[str]:
    """Return what the banner of a story says, with its marks: a step's number, or the summary, follows its title."""
    return [m.value for m in at.markdown if re.match(r"\*\*.+\*\* · (\d+ of \d+|summary)\n", m.value)]


def banner(at: AppTest) -> str:
    """Return what the banner says, as it is read; empty without one."""
    return " ".join(plain(text).replace("**", "") for text in banners(at))


def headline(at: AppTest) -> str:
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
    """Return the figures on the page by key, as the browser gets them, with their arrays decoded and gaps None."""
    return {chart["name"]: decoded(chart["figure"]) for chart in charts(at)}


def charts(at: AppTest) -> list[dict[str, Any]]:
    """Return the charts on the page as the browser gets them."""
    return [json.loads(proto.bytes) for proto in components(at, "dpbayes_chart")]


def components(at: AppTest, name: str) -> list[Any]:
    """Return what the browser gets of each component of our own with this name."""
    return [element.proto for element in at.get("bidi_component") if element.proto.component_name == name]


def decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) >= {"dtype", "bdata"}:
            numbers = np.frombuffer(b64decode(value["bdata"]), dtype=value["dtype"]).tolist()
            return [None if number != number else number for number in numbers]
        return {key: decoded(inner) for key, inner in value.items()}
    return [decoded(inner) for inner in value] if isinstance(value, list) else value


def everything(at: AppTest) -> str:
    """Return all that the page shows or tells a screen reader, as one text."""
    shown = [repr(figures(at)), *(chart["alt"] for chart in charts(at))]
    shown += [frame.value.to_csv() for frame in at.dataframe]
    shown += [f"{m.label} {m.value} {m.delta}" for m in at.metric]
    for kind in (at.markdown, at.caption, at.info, at.warning, at.code, at.subheader, at.title):
        shown += [element.value for element in kind]
    for widgets in (at.button, at.selectbox, at.text_input, at.multiselect, at.toggle, at.expander):
        shown += [f"{widget.label} {getattr(widget, 'help', '')}" for widget in widgets]
    shown += [f"{button.label} {button.proto.help}" for button in at.get("download_button")]
    return "\n".join(shown)
