"""The domain description: what was declared goes through its file and back, and every way it can be wrong is told."""

import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, Groups, Missing, OwnState
from dpbayes.sources.domains import MAX_DESCRIPTION, DeclaredColumn, for_table, read_domains, write_domains

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
STATES = st.lists(NAMES, min_size=1, max_size=5, unique=True).map(tuple)
POINTS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5, unique=True)


def missing_rules(states: tuple[str, ...]) -> st.SearchStrategy[Missing]:
    labels = NAMES.filter(lambda name: name not in states)
    return st.one_of(st.none(), st.builds(OwnState, labels), st.builds(CountAs, st.sampled_from(states)))


@st.composite
def domains(draw: st.DrawFn, name: str) -> Column:
    cuts: Column
    kind, public = draw(st.sampled_from(["categories", "groups", "cuts"])), draw(st.booleans())
    if kind == "cuts":
        cuts = Cuts(name, tuple(sorted(draw(POINTS))))
        return Cuts(name, cuts.points, public=public, missing=draw(missing_rules(cuts.states)))
    states = draw(STATES)
    missing = draw(missing_rules(states))
    if kind == "categories":
        return Categories(name, states, public=public, missing=missing)
    values = draw(st.lists(NAMES, max_size=6, unique=True))
    groups = tuple((state, tuple(values[k :: len(states)])) for k, state in enumerate(states))
    return Groups(name, groups, public=public, missing=missing)


@st.composite
def declared_columns(draw: st.DrawFn) -> tuple[DeclaredColumn, ...]:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    return tuple(DeclaredColumn(name, draw(st.none() | domains(name=name)), use=draw(st.booleans())) for name in names)


@given(declared_columns())
def test_what_is_written_is_read_again(columns: tuple[DeclaredColumn, ...]) -> None:
    text = write_domains(columns)
    assert read_domains(text) == columns
    assert read_domains(text.encode()) == columns
    assert read_domains(b"\xef\xbb\xbf" + text.encode()) == columns


def test_the_file_can_be_read_by_a_person_and_holds_nothing_of_what_was_not_declared() -> None:
    columns = (
        DeclaredColumn("age", Cuts("age", (30, 50.5), public=True), use=True),
        DeclaredColumn("größe", Categories("größe", ("S", "M"), missing=OwnState()), use=False),
        DeclaredColumn("vote", Groups("vote", (("no", ("n", "?")), ("yes", ("y",))), missing=CountAs("no"))),
        DeclaredColumn("id", use=False),
    )
    assert write_domains(columns) == (
        "{\n"
        '  "format": "dpbayes domain description",\n'
        '  "version": 1,\n'
        '  "columns": [\n'
        '    {"name": "age", "use": true, "public": true, "kind": "cut points", "points": [30, 50.5]},\n'
        '    {"name": "größe", "use": false, "public": false, "kind": "categories", "states": ["S", "M"], '
        '"missing": {"rule": "own state", "state": "missing"}},\n'
        '    {"name": "vote", "use": true, "public": false, "kind": "groups", "groups": '
        '[{"state": "no", "values": ["n", "?"]}, {"state": "yes", "values": ["y"]}], '
        '"missing": {"rule": "count as", "state": "no"}},\n'
        '    {"name": "id", "use": false}\n'
        "  ]\n"
        "}\n"
    )


GOOD: dict[str, Any] = {
    "name": "a",
    "use": True,
    "public": True,
    "kind": "categories",
    "states": ["x", "y"],
    "missing": {"rule": "own state", "state": "missing"},
}
CUTS = {key: value for key, value in GOOD.items() if key != "states"} | {"kind": "cut points", "points": [1, 2]}
GROUPS = {key: value for key, value in GOOD.items() if key != "states"} | {"kind": "groups"}


def described(*columns: object, **more: object) -> str:
    return json.dumps({"format": "dpbayes domain description", "version": 1, "columns": columns} | more)


def without(field: str) -> dict[str, object]:
    return {key: value for key, value in GOOD.items() if key != field}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "declares no column"),
        ('{\n"a": ', "not JSON: Expecting value, line 2"),
        (b"\xff\xfe{}", "not UTF-8 text"),
        ("[" * 200_000, "cannot be read|lists are too long|too long"),
        ("9" * 5000, "neither JSON nor TOML"),
        ("[]", "is not a domain description"),
        ("{}", "is not a domain description"),
        (described(GOOD, more=1), 'must have the fields "format", "version" and "columns"'),
        (described(GOOD, format="csvw"), "is not a domain description"),
        (described(GOOD, version=2), 'has version "2"; only version 1'),
        (described(GOOD, version=True), 'has version "True"'),
        (described(GOOD, version="1"), "has version"),
        (described(GOOD, columns={}), '"columns", a list'),
        ('{"a": 1, "a": 2}', 'has the field "a" twice'),
        ('{"\\ud800": 1, "\\ud800": 2}', r'has the field "\ud800" twice'),
        (described(GOOD, GOOD), 'The column name "a" is used twice'),
        (described(1), 'must be an object with a "name"'),
        (described({"name": 3, "use": True}), 'must be an object with a "name"'),
        (described({"name": " ", "use": True}), "Every column needs a name"),
        (described({"name": "\ud800", "use": True}), "contains an unpaired surrogate, '\\ud800'"),
        (described({"name": "a"}), "must have the form"),
        (described({"name": "a", "use": 1}), "must have the form"),
        (described(without("kind")), '"kind" that is one of categories, groups, cut points; "None" is none'),
        (described(GOOD | {"kind": []}), 'needs a "kind"'),
        (described(GOOD | {"kind": "numbers"}), '"numbers" is none of them'),
        (described(without("public")), "must have the form"),
        (described(GOOD | {"public": "yes"}), "must have the form"),
        (described(without("states")), "must have the form"),
        (described(GOOD | {"points": [1]}), "must have the form"),
        (described(GOOD | {"states": "xy"}), "must have the form"),
        (described(GOOD | {"states": ["x", 1]}), "is empty or not text"),
        (described(GOOD | {"states": ["x", "x"]}), 'The state of "a" name "x" is used twice'),
        (described(without("missing") | {"states": []}), "has 0 states; it needs 1 to 256"),
        (described(GOOD | {"states": ["\udfff"]}), "contains an unpaired surrogate"),
        (described(GOOD | {"missing": "drop"}), "must have the form"),
        (described(GOOD | {"missing": {"rule": []}}), "must have the form"),
        (described(GOOD | {"missing": {"rule": "drop the record"}}), "must have the form"),
        (described(GOOD | {"missing": {"rule": "count as"}}), "must have the form"),
        (described(GOOD | {"missing": {"rule": "count as", "state": "z"}}), 'cannot count as "z"'),
        (described(GOOD | {"missing": {"rule": "own state", "state": 1}}), "must have the form"),
        (described(GOOD | {"missing": {"rule": "own state", "state": "x"}}), "needs a different name"),
        (described(CUTS | {"points": 3}), "must have the form"),
        (described(CUTS | {"points": ["3"]}), "must have the form"),
        (described(CUTS | {"points": [True]}), "must have the form"),
        (described(CUTS | {"points": [2, 1]}), "must increase; 1 follows 2"),
        (described(CUTS | {"points": [2, 2]}), "must increase; 2 follows 2"),
        (described(CUTS | {"points": [float("nan")]}), "contains NaN; its numbers must be finite"),
        (described(CUTS | {"points": [float("-inf")]}), "contains -Infinity; its numbers must be finite"),
        (described(CUTS | {"points": [1]}).replace("[1]", "[1e999]"), "must be finite numbers"),
        (described(CUTS | {"points": [10**400]}), "must be finite numbers"),
        (described(CUTS | {"points": []}), "at least one cut point"),
        (described(GROUPS | {"groups": [["x", ["y"]]]}), "must have the form"),
        (described(GROUPS | {"groups": [{"state": "x", "values": "y"}]}), "must have the form"),
        (described(GROUPS | {"groups": [{"state": 1, "values": []}]}), "is empty or not text"),
        (described(GROUPS | {"groups": [{"state": s, "values": ["v"]} for s in "xy"]}), '"v" is used twice'),
    ],
)
def test_every_way_to_be_wrong_is_one_sentence(text: str | bytes, sentence: str) -> None:
    refused_with_one_sentence(text, sentence)


def test_a_too_large_description_is_one_sentence() -> None:
    refused_with_one_sentence(" " * (MAX_DESCRIPTION + 1), "the limit is 20,000,000")


def refused_with_one_sentence(text: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence).replace(r"\|", "|")) as refused:
        read_domains(text)
    message = str(refused.value)
    message.encode()
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from([*GOOD, "points", "groups", "rule", "state", "values"]), inner, max_size=6),
    max_leaves=12,
))  # fmt: skip
def test_any_json_is_read_or_refused(value: object) -> None:
    missing, groups = GOOD | {"missing": value}, GROUPS | {"groups": [value]}
    for text in (json.dumps(value), described(value), described(missing), described(groups)):
        with contextlib.suppress(InputError):
            assert read_domains(text)


@given(st.binary(max_size=80))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        read_domains(data)


def test_a_description_fits_the_table_that_it_describes_and_no_other() -> None:
    a, b = DeclaredColumn("a", Cuts("a", (1,))), DeclaredColumn("b", use=False)
    assert for_table((b, a), ("a", "b")) == (a, b)
    with pytest.raises(InputError, match='has a column "b", which the table does not have'):
        for_table((a, b), ("a",))
    with pytest.raises(InputError, match='lacks the table\'s column "c"'):
        for_table((a, b), ("a", "b", "c"))


def test_a_column_has_no_other_columns_domain() -> None:
    with pytest.raises(InputError, match='The domain of column "a" has the name of another column, "b"'):
        DeclaredColumn("a", Cuts("b", (1,)))
