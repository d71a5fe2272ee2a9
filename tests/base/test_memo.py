import pytest

from dpbayes.base.memo import Memo


def test_a_result_is_computed_once_for_each_key_and_function():
    asked = []

    def squared(x):
        asked.append(x)
        return x * x

    memo = Memo()
    assert [memo.once(x, squared, x) for x in (2, 3, 2)] == [4, 9, 4]
    assert asked == [2, 3]
    assert memo.once(2, pow, 2, 5) == 32, "another function under the same key is another question"


def test_the_result_not_asked_for_longest_is_forgotten():
    memo, asked = Memo(most=2), []
    for key in "abacab":
        memo.once(key, asked.append, key)
    assert asked == ["a", "b", "c", "b"], "b was the oldest when c came"


def test_what_raises_is_not_kept():
    memo, answers = Memo(), iter([ZeroDivisionError(), 7])

    def answer():
        value = next(answers)
        if isinstance(value, Exception):
            raise value
        return value

    with pytest.raises(ZeroDivisionError):
        memo.once("x", answer)
    assert memo.once("x", answer) == 7
