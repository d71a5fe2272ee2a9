"""Work in steps: nothing is done twice or left out, whenever it is stopped or a step raises."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.runtime.scriptrunner import RerunException

from dpbayes.base.steps import Work, in_parts, mapped
from dpbayes.base.validation import InputError
from dpbayes.ui.session.host import host, use_host
from dpbayes.ui.widgets import running
from dpbayes.ui.widgets.running import Running


@pytest.fixture(autouse=True)
def one_step_at_a_time() -> Iterator[None]:
    before = host()
    use_host(replace(before, first_s=0.0, moment_s=0.0))
    yield
    use_host(before)


def test_every_moment_goes_on_where_the_last_one_ended() -> None:
    work = Running(in_parts(lambda k: 10 * k, 3))
    seen = []
    while not work.done:
        work.work()
        seen.append((work.result, work.share, work.taken))
    assert seen == [((0,), 1 / 3, 1), ((0, 10), 2 / 3, 2), ((0, 10, 20), 1, 3)]
    work.work()
    assert work.result == (0, 10, 20)
    assert not work.going


def test_a_moment_is_as_many_steps_as_fit() -> None:
    use_host(replace(host(), first_s=60.0))
    work = Running(in_parts(lambda k: k, 1000))
    work.work()
    assert work.done


def test_stopped_work_stands_still_but_for_the_first_picture() -> None:
    work = Running(in_parts(lambda k: k, 3), stopped=True)
    work.work()
    work.work()
    assert work.result == (0,)
    work.stopped = False
    work.work()
    assert work.result == (0, 1)


def shares() -> Work[int]:
    yield 0.25
    yield 0.5
    return 0


def test_work_that_tells_its_share_alone_has_a_result_at_the_end() -> None:
    work = Running(shares())
    seen = []
    while work.going:
        work.work()
        seen.append((work.share, work.result))
    assert seen == [(0.25, None), (0.5, None), (1.0, 0)], "nothing is a result too"


def test_work_whose_result_is_changed_takes_the_same_steps() -> None:
    work = Running(mapped(in_parts(lambda k: k, 2), len))
    work.work()
    assert (work.share, work.result) == (0.5, 1)
    work.work()
    assert (work.done, work.result) == (True, 2)


def test_what_is_refused_is_refused_each_time() -> None:
    def refuse(number: int) -> int:
        if number:
            raise InputError("Not at all.")
        return number

    work = Running(in_parts(refuse, 3))
    work.work()
    for _ in range(2):
        with pytest.raises(InputError, match="Not at all"):
            work.work()
    assert work.result == (0,)


@pytest.mark.parametrize("failure", [RuntimeError, RerunException])
def test_work_that_ends_in_another_way_begins_anew(
    monkeypatch: pytest.MonkeyPatch, failure: type[BaseException]
) -> None:
    monkeypatch.setattr(running.st, "session_state", {})
    fails = [True, False]

    def step(number: int) -> int:
        if number and fails.pop(0):
            raise failure("the browser asked for another run")
        return number

    def ask() -> Running[tuple[int, ...]]:
        return running.running_elsewhere("kind", "key", lambda: in_parts(step, 2))

    ask().work()
    with pytest.raises(failure):
        ask().work()
    ask().work()
    ask().work()
    assert ask().done
    assert ask().result == (0, 1)


def test_the_least_recently_used_work_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.st, "session_state", {})
    started: list[str] = []

    def ask(key: str) -> Running[tuple[str, ...]]:
        def start() -> Work[tuple[str, ...]]:
            started.append(key)
            return in_parts(lambda k: key, 1)

        return running.running_elsewhere("kind", key, start)

    first = ask("a")
    ask("b")
    assert ask("a") is first, "it is now the one asked for last"
    ask("c")
    assert ask("a") is first
    assert started == ["a", "b", "c"]
    ask("b")
    assert started == ["a", "b", "c", "b"], "b was the oldest when c came"


def test_few_works_that_are_not_done_are_kept_and_all_that_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.st, "session_state", {})

    def ask(key: int, total: int) -> Running[tuple[int, ...]]:
        work = running.running_elsewhere("kind", key, lambda: in_parts(lambda k: k, total))
        work.work()
        return work

    done = [ask(key, 1) for key in range(5)]
    under_way = [ask(key, 9) for key in range(5, 9)]
    assert [ask(key, 1) for key in range(5)] == done
    assert ask(8, 9) is under_way[-1]
    assert ask(7, 9) is under_way[-2]
    assert ask(5, 9) is not under_way[0], "what it worked on is forgotten"


def test_work_of_another_program_ends_when_it_is_stopped_and_begins_anew() -> None:
    events: list[str] = []

    def elsewhere() -> Work[int]:
        events.append("begun")
        try:
            yield from shares()
        finally:
            events.append("ended")
        return 7

    work = Running(elsewhere(), restart=elsewhere)
    work.work()
    assert (events, work.share) == (["begun"], 0.25)
    work.stop()
    assert events == ["begun", "ended"]
    work.work()
    assert not work.going
    work.go_on()
    assert (work.share, work.taken) == (0.0, 0)
    while work.going:
        work.work()
    assert (events, work.result) == (["begun", "ended"] * 2, 7)


def test_work_that_nobody_asks_for_any_more_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running.st, "session_state", {})
    ended: list[int] = []

    def elsewhere(k: int) -> Work[int]:
        try:
            yield 0.5
        finally:
            ended.append(k)
        return k

    for k in range(running.UNFINISHED + 1):
        running.running_elsewhere("test", k, lambda k=k: elsewhere(k)).work()
    assert ended == [0]


def test_a_run_that_makes_room_for_the_next_one_gives_it_the_work_after_its_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A step that is being taken cannot be begun by another run: the work would be lost, and the page empty."""
    use_host(replace(host(), first_s=60.0, moment_s=60.0))
    is_stepping, may_end = threading.Event(), threading.Event()
    workers: list[str] = []

    def step(k: int) -> int:
        workers.append(threading.current_thread().name)
        is_stepping.set()
        assert may_end.wait(60)
        return k

    work = Running(in_parts(step, 5))
    runs = [threading.Thread(target=work.work, name=name) for name in ("first", "second")]
    runs[0].start()
    assert is_stepping.wait(60)
    before = work.worker
    runs[1].start()
    while work.worker is before:
        time.sleep(0.001)
    may_end.set()
    for run in runs:
        run.join(60)
    assert work.done
    assert not work.lost
    assert work.result == (0, 1, 2, 3, 4)
    assert workers == ["first", *["second"] * 4]
