"""Work in steps: nothing is done twice or left out, whenever it is stopped or a step raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.ui.pages.bounds.curve import coarse_to_fine
from dpbayes.ui.widgets import running
from dpbayes.ui.widgets.running import Coming, Running


@pytest.fixture(autouse=True)
def one_step_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FIRST", 0.0)
    monkeypatch.setattr(running, "MOMENT", 0.0)


def test_every_moment_goes_on_where_the_last_one_ended() -> None:
    work = Running(lambda k: 10 * k, total=3)
    seen = []
    while not work.done:
        work.work()
        seen.append((list(work.parts), work.share))
    assert seen == [([0], 1 / 3), ([0, 10], 2 / 3), ([0, 10, 20], 1)]
    work.work()
    assert work.parts == [0, 10, 20]
    assert not work.going
    assert not work.is_long


def test_a_moment_is_as_many_steps_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "FIRST", 60.0)
    work = Running(lambda k: k, total=1000)
    work.work()
    assert work.done


def test_stopped_work_stands_still_but_for_the_first_picture() -> None:
    work = Running(lambda k: k, total=3, stopped=True)
    work.work()
    work.work()
    assert work.parts == [0]
    assert work.is_long, "the button to go on stays"
    work.stopped = False
    work.work()
    assert work.parts == [0, 1]


def test_a_step_that_raises_is_taken_again() -> None:
    fails = [True]

    def step(number: int) -> int:
        if number == 1 and fails.pop():
            raise InputError("Not now.")
        return number

    work = Running(step, total=2)
    work.work()
    with pytest.raises(InputError, match="Not now"):
        work.work()
    fails.append(False)
    work.work()
    assert work.parts == [0, 1]


@pytest.mark.parametrize(("seconds", "is_long"), [(0.01, False), (10.0, True)])
def test_only_long_work_has_a_bar(seconds: float, *, is_long: bool) -> None:
    work = Running(lambda k: k, total=3, parts=[0], seconds=seconds)
    assert work.is_long is is_long


@given(st.integers(1, 200), st.integers(1, 50))
def test_curves_come_coarse_first_and_complete(points: int, most: int) -> None:
    groups = coarse_to_fine(points, most=most)
    order = [k for group in groups for k in group]
    assert sorted(order) == list(range(points))
    assert all(1 <= len(group) <= most for group in groups)
    coarse = {*range(0, points, 8), points - 1}
    assert set(order[: len(coarse)]) == coarse


def test_results_that_get_better_are_kept_one_at_a_time() -> None:
    work = Coming(iter([1, 0]))
    seen = []
    while work.going:
        work.work()
        seen.append((work.last, work.done))
    assert seen == [(1, False), (0, False), (0, True)], "nothing is a result too"


def test_stopped_results_stand_still() -> None:
    work = Coming(iter([1, 2]))
    work.work()
    work.stopped = True
    work.work()
    assert work.last == 1
    assert not work.going


def test_the_work_not_asked_for_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "KEPT", 2)
    monkeypatch.setattr(running.st, "session_state", {})
    started: list[str] = []

    def ask(key: str) -> Running[str]:
        def start() -> Running[str]:
            started.append(key)
            return Running(lambda k: key, total=1)

        return running.running("kind", key, start)

    first = ask("a")
    ask("b")
    assert ask("a") is first, "it is now the one asked for last"
    ask("c")
    assert ask("a") is first
    assert started == ["a", "b", "c"]
    ask("b")
    assert started == ["a", "b", "c", "b"], "b was the oldest when c came"
