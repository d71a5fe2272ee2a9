"""Text becomes codes over declared domains, domains are proposed from text, and whatever is wrong gets one sentence."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.releases.publishing import states_of_missing
from dpbayes.sources import proposals
from dpbayes.sources.columns import Categories, Cuts, encode
from dpbayes.sources.proposals import MOST_VALUES, Proposal, counted_proposal, proposal


def frame_of(**columns: list[str]) -> pd.DataFrame:
    return pd.DataFrame(columns, dtype="str")


# Columns


def test_encode_every_kind_of_column() -> None:
    frame = frame_of(c=["b", " a ", "b"], n=["24.9", "25", "40"], g=["x", "y", "z"])
    data = encode(
        frame,
        [
            Cuts("n", (25, 40), public=True),
            Categories("c", ("a", "b"), public=True),
            Categories("g", ("early", "late"), values=(("x", "y"), ("z",))),
        ],
    )
    assert data.names == ("n", "c", "g")
    assert data.states == (("< 25", "25 to < 40", ">= 40"), ("a", "b"), ("early", "late"))
    assert data.codes.tolist() == [[0, 1, 0], [1, 0, 0], [2, 1, 1]]


def test_truth_values_of_a_file_have_any_case() -> None:
    frame = pd.DataFrame({"alive": ["TRUE", "false", "True", " true"]})
    assert encode(frame, [Categories("alive", ("False", "True"))]).codes.ravel().tolist() == [1, 0, 1, 1]
    with pytest.raises(InputError, match="YES"):
        encode(pd.DataFrame({"alive": ["YES"]}), [Categories("alive", ("no", "yes"))])


def test_missing_policies() -> None:
    frame = frame_of(a=["x", "", "y", "?", " NA "], b=["1", "2", "3", "4", "5"])
    b = Cuts("b", (3,))
    own = encode(frame, [Categories("a", ("x", "y"), missing="unknown"), b])
    assert own.states[0] == ("x", "y", "unknown")
    assert own.column("a").tolist() == [0, 2, 1, 2, 2]
    filled = encode(frame, [Categories("a", ("x", "y"), missing="y"), b])
    assert filled.states[0] == ("x", "y"), "missing values count as a state that is there"
    assert filled.column("a").tolist() == [0, 1, 1, 1, 1]
    complete = encode(frame, [Categories("a", ("x", "y")), b])
    assert complete.states[0] == ("x", "y"), "no state is added to a column without missing values"
    assert complete.column("a").tolist() == [0, 0, 1, 0, 0]
    declared = encode(frame_of(a=["None", "x", ""]), [Categories("a", ("None", "x"))])
    assert declared.column("a").tolist() == [0, 1, 0]


RULES = (None, "unknown", "s1")
RECORDS = list(product(["a", "b", "", "NA"], ["1", "5", "?"]))


@pytest.mark.parametrize(("first", "second"), list(product(RULES, (None, "unknown", ">= 3"))))
def test_the_codes_of_a_record_depend_on_this_record_alone(first: str | None, second: str | None) -> None:
    """All tables of two records, and with them all pairs of tables that differ in one record."""
    columns = [Categories("g", ("s0", "s1"), values=(("a",), ("b",)), missing=first), Cuts("c", (3,), missing=second)]

    def codes(*records: tuple[str, str]) -> list[list[int]]:
        groups, cuts = zip(*records, strict=True)
        rows: list[list[int]] = encode(frame_of(g=list(groups), c=list(cuts)), columns).codes.tolist()
        return rows

    alone = {record: codes(record)[0] for record in RECORDS}
    for pair in product(RECORDS, repeat=2):
        assert codes(*pair) == [alone[record] for record in pair]
    assert states_of_missing(columns) == {
        name: column.domain[alone[record][place]]
        for place, (name, column, record) in enumerate(zip("gc", columns, [("", "1"), ("a", "?")], strict=True))
    }


def test_encode_refusals() -> None:
    frame = frame_of(a=["x", "y", "z", "z"], n=["1", "inf", "two", ""])
    with pytest.raises(InputError, match='Column "a" has "z" in record 3, which is not a declared state'):
        encode(frame, [Categories("a", ("x", "y"))])
    with pytest.raises(InputError, match='Column "n" has "inf" in record 2, which is not a number'):
        encode(frame, [Cuts("n", (1.5,))])
    with pytest.raises(InputError, match='no column "q"'):
        encode(frame, [Categories("q", ("x",))])
    with pytest.raises(InputError, match="at least one column"):
        encode(frame, [])
    with pytest.raises(InputError, match="used twice"):
        encode(frame, [Categories("a", ("x",))] * 2)


def test_a_state_is_no_novel() -> None:
    assert Categories("a", ("x" * 500,)).domain == ("x" * 500,)
    with pytest.raises(InputError, match=r'Column "a" has the state "x+…" of 501 letters; the limit is 500'):
        Categories("a", ("b", "x" * 501))


# Proposals


def test_proposals() -> None:
    assert proposal("a", ["x10", "x9", "X1", "x9"]).domain == Categories("a", ("X1", "x9", "x10"))
    assert proposal("a", ["10", "9", ""]).domain == Categories("a", ("9", "10"), missing="missing")
    cuts = proposal("a", [str(i) for i in range(1, 1001)]).domain
    assert cuts == Cuts("a", (200, 400, 600, 800))
    assert not cuts.public
    assert proposal("a", ["0"] * 90 + [str(i) for i in range(114, 130)]).domain == Cuts("a", (100,))
    texts = [*map(str, range(20, 60)), "n/a", " - ", ""]
    marked = proposal("a", texts).domain
    assert marked == Cuts("a", (30, 40, 50), missing="missing", marks=("-", "n/a"))
    assert encode(frame_of(a=texts), [marked]).column("a").tolist()[-4:] == [3, 4, 4, 4]
    assert isinstance(proposal("a", [*texts, "about 40"]).domain, Categories)


@pytest.mark.parametrize(
    ("values", "identifies"),
    [
        ([str(k) for k in range(13)], True),
        ([str(k) for k in range(12)], False),
        ([f"P{k}" for k in range(13)], True),
        ([f" {k}.0" for k in range(13)], True),
        ([*(str(k) for k in range(13)), "", "NA"], True),
        ([*(str(k) for k in range(13)), "5"], False),
        ([str(k / 2) for k in range(13)], False),
    ],
)
def test_identifiers_are_proposed_not_to_be_used(values: list[str], identifies: bool) -> None:
    column = proposal("a", values)
    assert column.domain is not None
    assert column.reason.startswith('Column "a" has a different value in each record') == identifies
    assert bool(column.reason) == identifies


def test_what_cannot_be_proposed_has_its_reason() -> None:
    assert proposal("a", ["", "NA"]) == Proposal("a", reason='Column "a" has no values. Leave it out.')
    many = proposal("id", [f"p{i}" for i in range(300)])
    assert many.domain is None
    assert many.reason.startswith('Column "id" has 300 distinct texts; the limit is 256')


def quantile_cuts(name: str, values: list[str], bins: int) -> Cuts:
    return Cuts(name, proposals._quantiles(np.array(values, dtype=float), np.ones(len(values), dtype=int), bins))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40), st.integers(2, 9))
def test_quantile_cuts_always_cut(numbers: list[float], bins: int) -> None:
    values = [repr(x) for x in numbers]
    if min(numbers) == max(numbers):
        with pytest.raises(InputError, match="at least one cut point"):
            quantile_cuts("a", values, bins)
        return
    cuts = quantile_cuts("a", values, bins)
    codes = encode(frame_of(a=values), [cuts]).column("a")
    assert 2 <= len(cuts.domain) <= max(bins, 6)
    assert codes.min() == 0
    assert codes.max() == len(cuts.domain) - 1
    assert (np.diff(codes[np.argsort(numbers)].astype(int)) >= 0).all()


def test_many_records_of_an_engine_are_proposed_like_few_and_too_many_texts_are_said_to_be() -> None:
    counted = pd.Series([3_000_000, 1_000_000, 1], index=["f", "m", ""])
    assert counted_proposal("a", counted) == proposal("a", ["f", "m", ""])
    ages = pd.Series([10**9] * 100, index=[str(age) for age in range(100)])
    assert counted_proposal("a", ages) == proposal("a", [str(age) for age in range(100)] * 2)
    texts = pd.Series(1, index=[f"p{k}" for k in range(MOST_VALUES)])
    assert "5,000 distinct texts or more" in counted_proposal("a", texts).reason
    numbers = pd.Series(1, index=[str(k) for k in range(MOST_VALUES)])
    assert "a different value in each record, like" in counted_proposal("a", numbers).reason
