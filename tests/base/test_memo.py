"""What is kept by what it was asked under."""

import pickle
import threading
import time
from collections.abc import Callable

import pytest

from dpbayes.base.memo import Memo


def test_the_least_recently_used_is_forgotten_first() -> None:
    memo, computed = Memo(most=2), list[int]()

    def doubled(value: int) -> int:
        computed.append(value)
        return 2 * value

    assert [memo.once(key, doubled, key) for key in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert computed == [1, 2, 3, 2]


def test_all_are_forgotten_on_request_and_work_that_goes_on_has_its_result() -> None:
    memo = Memo()
    assert memo.once(1, float, 1) == 1
    assert memo.once(2, lambda: (memo.clear(), "computed meanwhile")[1]) == "computed meanwhile"
    assert memo.results == {}
    assert memo.once(1, float, 3) == 3


def in_threads(count: int, ask: Callable[[], object]) -> list[object]:
    """Return what `ask` gives in so many threads that begin together."""
    results, begin = list[object](), threading.Barrier(count)

    def run() -> None:
        begin.wait()
        results.append(ask())

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(results) == count
    return results


def test_threads_that_need_the_same_at_once_have_it_computed_once() -> None:
    memo, computed = Memo(), list[object]()

    def slow() -> object:
        time.sleep(0.05)
        computed.append(object())
        return computed[-1]

    assert set(in_threads(8, lambda: memo.once("a", slow))) == {computed[0]}
    assert len(computed) == 1


def test_what_failed_is_computed_by_the_next_who_needs_it() -> None:
    memo, attempts = Memo(), list[int]()

    def fails_at_first() -> int:
        attempts.append(len(attempts))
        return 1 // attempts[-1]

    with pytest.raises(ZeroDivisionError):
        memo.once("a", fails_at_first)
    assert memo.once("a", fails_at_first) == 1


def test_a_copy_keeps_nothing_yet():
    memo = Memo(most=2)
    memo.once("a", str, 1)
    copy = pickle.loads(pickle.dumps(memo))
    assert (copy.most, copy.results) == (2, {})
    assert copy.once("b", str, 2) == "2"
