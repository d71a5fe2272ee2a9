"""The app in a real browser: from a key on a slider to the repainted chart, and from nothing to the first chart."""

import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.record import Record
from tests.browser.app_screen import QUIET
from tests.browser.serving import ROOT, chromium, dashboard_process, free_port, one_browser, streamlit_process

APP = ROOT / "app.py"
TRIVIAL = Path(__file__).with_name("trivial_page.py")
INK = ".js-plotly-plot .cartesianlayer path"
LIVE = ("explore", "network")
"""Pages whose first slider repaints their first chart."""

CHARTS = (*LIVE, "proofs", "lab")
"""Pages with a chart as soon as they are opened."""

LONGEST_WORK_MS = 20_000
"""How long a page may go on with its work once its slider rests."""

REPAINT_MS, LATE_MS = 50.0, 50.0
"""The time between repaints under a drag at most, and how late after the hand stops the last one may come."""

TURN = 5
"""Key presses in one direction before turning back: a slider must not reach its end."""

STOPWATCH = """() => {
  const ink = () => {
    const chart = document.querySelector('.js-plotly-plot');
    const paths = chart ? [...chart.querySelectorAll('.cartesianlayer path')] : [];
    return paths.map(p => p.getAttribute('d') + p.getAttribute('transform')).join();
  };
  window.watch = {};
  window.repaints = [];
  let last = ink();
  new MutationObserver(() => {
    const now = ink();
    if (now && now !== last) [last] = [now, window.repaints.push(performance.now())];
  }).observe(document.body, {subtree: true, childList: true, attributes: true, attributeFilter: ['d', 'transform']});
  document.addEventListener('keydown', () => { window.watch = {start: performance.now(), ink: ink()}; }, true);
  new MutationObserver(() => {
    const watch = window.watch;
    if (watch.start && !watch.took && ink() && ink() !== watch.ink) watch.took = performance.now() - watch.start;
  }).observe(document.body, {subtree: true, childList: true, attributes: true, attributeFilter: ['d', 'transform']});
}"""

FIRST_INK = f"""
new MutationObserver((_, observer) => {{
  if (!document.querySelector({INK!r})) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => {{ window.inked = performance.now(); }}));
}}).observe(document, {{subtree: true, childList: true}});
"""


def first_ink(window: Page, url: str) -> float:
    """Open a page that has a chart; return the milliseconds until it is painted.

    The window itself reads the clock: whoever asks from outside looks every half second, and after all that is drawn
    below the chart.
    """
    window.add_init_script(FIRST_INK)
    window.goto(url)
    window.wait_for_function("() => window.inked", timeout=90_000)
    return float(window.evaluate("() => window.inked"))


def look_at(page: Page, url: str) -> None:
    """Open a page that has a chart, and wait for it to be at rest."""
    page.goto(url)
    page.locator(INK).first.wait_for(timeout=90_000, state="attached")
    rest(page, 2000)


def prepare(page: Page, url: str) -> None:
    """Open a page that has a slider too, and put a stopwatch into it and the focus on its slider."""
    look_at(page, url)
    page.evaluate(STOPWATCH)
    page.get_by_role("slider").first.focus()


def rest(page: Page, quiet_ms: int = 500) -> None:
    """Wait until no script has run for so long: work that a page goes on with would slow the next page's move."""
    page.evaluate(QUIET, [quiet_ms, LONGEST_WORK_MS])


def move(page: Page, turn: int) -> float:
    """Press one key on the slider; return the milliseconds until the first chart's lines differ."""
    page.keyboard.press("ArrowRight" if (turn // TURN) % 2 == 0 else "ArrowLeft")
    page.wait_for_function("() => window.watch.took", timeout=30_000)
    return float(page.evaluate("() => window.watch.took"))


def slider_to_chart(*, rounds: int = 40, warm_up: int = 6) -> list[Record]:
    """Time the pages with a live slider and the trivial page in turns, in the same minutes, in the same browser.

    The bound is against a page as Streamlit serves it; the project's configuration, which leaves out a garbage
    collection after every run, makes a trivial page faster still, and its ratio is reported beside it.
    """
    with ExitStack() as stack:
        stack.enter_context(one_browser())
        plain = Path(stack.enter_context(tempfile.TemporaryDirectory()))  # a folder without any configuration
        app, _ = stack.enter_context(streamlit_process(APP))
        same, _ = stack.enter_context(streamlit_process(TRIVIAL))
        defaults, _ = stack.enter_context(streamlit_process(TRIVIAL, cwd=plain))
        pages = {}
        for key, url in {**{name: f"{app}/{name}" for name in LIVE}, "same": same, "defaults": defaults}.items():
            pages[key] = stack.enter_context(chromium())
            prepare(pages[key], url)
        took: dict[str, list[float]] = {key: [] for key in pages}
        for turn in range(warm_up + rounds):
            for key, page in pages.items():
                page.bring_to_front()
                took[key].append(move(page, turn))
                rest(page)
    return [
        Record.of_times(
            f"Slider to repainted chart, {name.capitalize()}",
            took[name][warm_up:],
            "ms",
            baseline=f"trivial page, {configuration}",
            baseline_times=took[key][warm_up:],
            bound=bound,
        )
        for name in LIVE
        for key, configuration, bound in (
            ("defaults", "Streamlit's defaults", 1.0),
            ("same", "the project's configuration", 2.0),
        )
    ]


def dragging(*, rounds: int = 3) -> list[Record]:
    """Drag the slider of each page's board; count repaints."""
    with ExitStack() as stack:
        stack.enter_context(one_browser())
        app, _ = stack.enter_context(streamlit_process(APP))
        drags: dict[str, list[tuple[float, float]]] = {}
        for name in LIVE:
            page = stack.enter_context(chromium())
            prepare(page, f"{app}/{name}")
            page.emulate_media(reduced_motion="no-preference")
            for _ in range(rounds):
                drags.setdefault(name, []).append(drag(page))
                rest(page)
    rate, late = (
        {key: statistics.median(times[part] for times in measured) for key, measured in drags.items()}
        for part in (0, 1)
    )
    return [
        record
        for name in LIVE
        for record in (
            Record(
                name=f"Time between repaints under a drag, {name.capitalize()}",
                value=1000 / max(rate[name], 1e-3),
                unit="ms",
                bound=REPAINT_MS,
            ),
            Record(
                name=f"Last repaint after the hand stops, {name.capitalize()}",
                value=late[name],
                unit="ms",
                bound=LATE_MS,
            ),
        )
    ]


def drag(page: Page, *, steps: int = 120) -> tuple[float, float]:
    """Drag the first slider to and fro for two seconds; return repaints a second, and how late the last one came."""
    box = page.get_by_role("slider").first.bounding_box()
    assert box is not None
    x, y, far = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 0.4 * box["width"]
    page.mouse.move(x, y)
    page.mouse.down()
    start = page.evaluate("() => { window.repaints.length = 0; return performance.now(); }")
    for step in range(steps):
        part = step % 60 / 60
        page.mouse.move(x + far * (part if (step // 60) % 2 == 0 else 1 - part), y)
        page.wait_for_timeout(16)
    stop = page.evaluate("() => performance.now()")
    page.mouse.up()
    page.wait_for_timeout(1500)
    repaints = page.evaluate("() => window.repaints")
    within = [at for at in repaints if at <= stop]
    return 1000 * len(within) / (stop - start), max([at - stop for at in repaints if at > stop], default=0.0)


def cold_start(*, repeats: int = 5) -> list[Record]:
    """Time from starting the server to the first chart, of Release and of the trivial page in turns.

    The browser is running already, and has never seen either. The dashboard starts as `make run` starts it, and as
    `streamlit run app.py` does.
    """
    starts = {
        "python -m dpbayes": (lambda: dashboard_process(free_port()), "explore"),
        "streamlit run app.py": (lambda: streamlit_process(APP), "explore"),
        "trivial": (lambda: streamlit_process(TRIVIAL), ""),
    }
    took: dict[str, list[float]] = {name: [] for name in starts}
    with one_browser():
        for _ in range(repeats):
            for name, (server, page) in starts.items():
                start = time.perf_counter()
                with server() as (url, _), chromium() as window:
                    started = time.perf_counter() - start
                    took[name].append(started + first_ink(window, f"{url}/{page}") / 1000)
    trivial = took.pop("trivial")
    return [
        Record.of_times(
            f"Cold start to the first chart, {name}",
            times,
            "s",
            baseline="trivial page",
            baseline_times=trivial,
            bound=1.3,
        )
        for name, times in took.items()
    ]


def first_charts(*, repeats: int = 5) -> list[Record]:
    """Time from opening a page to its first chart on a warm server, in a browser that knows the app and in a new one.

    In turns with the trivial page: what Streamlit's scripts take in this browser is in both. The first turn does not
    count: only then has the server kept what it keeps for all, and a new window of this browser compiled the scripts.
    """
    warm: dict[str, list[float]] = {}
    new: dict[str, list[float]] = {}
    with streamlit_process(APP) as (url, _), streamlit_process(TRIVIAL) as (trivial, _), chromium() as visitor:
        pages = {name: f"{url}/{name}" for name in CHARTS} | {"trivial": trivial}
        for address in pages.values():
            look_at(visitor, address)
        for _ in range(1 + repeats):
            for name, address in pages.items():
                window = visitor.context.new_page()
                warm.setdefault(name, []).append(first_ink(window, address))
                window.close()
                with chromium() as stranger:
                    new.setdefault(name, []).append(first_ink(stranger, address))
    return [*_first_charts("First chart", warm), *_first_charts("First chart in a new browser", new)]


def _first_charts(what: str, took: dict[str, list[float]]) -> list[Record]:
    """Return the times of each page beside the trivial one's, and the slowest."""
    times = {name: times_of_page[1:] for name, times_of_page in took.items()}
    trivial = times.pop("trivial")
    return [
        Record.of_times(
            f"{what}, {name.capitalize()}",
            times_of_page,
            "ms",
            baseline="trivial page",
            baseline_times=trivial,
            bound=1.3,
        )
        for name, times_of_page in times.items()
    ]
