"""The domain description: what was declared goes through its file and back, and every way it can be wrong is told."""

import contextlib
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Column, Cuts
from dpbayes.sources.domains import DeclaredColumn, cuts, declare, read_domains, write_domains
from dpbayes.ui.pages.data_columns import for_table

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(str.strip)
STATES = st.lists(NAMES, min_size=1, max_size=5, unique=True).map(tuple)
POINTS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=5, unique=True)


def missing_rules(states: tuple[str, ...]) -> st.SearchStrategy[str | None]:
    return st.none() | NAMES.filter(lambda name: not any(map(str.isdigit, name))) | st.sampled_from(states)


@st.composite
def domains(draw: st.DrawFn, name: str) -> Column:
    cuts: Column
    kind, public = draw(st.sampled_from(["categories", "groups", "cuts"])), draw(st.booleans())
    if kind == "cuts":
        cuts = Cuts(name, tuple(sorted(draw(POINTS))), public=public, marks=draw(st.sampled_from([(), ("n/a",)])))
        return replace(cuts, missing=draw(missing_rules(cuts.states)))
    states = draw(STATES)
    missing = draw(missing_rules(states))
    if kind == "categories":
        return Categories(name, states, public=public, missing=missing)
    values = draw(st.lists(NAMES, max_size=6, unique=True))
    groups = tuple(tuple(values[k :: len(states)]) for k in range(len(states)))
    return Categories(name, states, values=groups, public=public, missing=missing)


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
        DeclaredColumn("size", Cuts("size", (1,), limits=(0, 2), public=True, missing="unknown")),
        DeclaredColumn("größe", Categories("größe", ("S", "M"), missing="missing"), use=False),
        DeclaredColumn("vote", Categories("vote", ("no", "yes"), values=(("n", "?"), ("y",)), missing="no")),
        DeclaredColumn("rain", Categories("rain", ("no", "yes"), public=True)),
        DeclaredColumn("id", use=False),
    )
    assert write_domains(columns) == (
        "{\n"
        '  "age": {"points": [30, 50.5]},\n'
        '  "size": {"cuts": [0, 1, 2], "missing": "unknown"},\n'
        '  "größe": {"values": ["S", "M"], "missing": "missing", "public": false, "use": false},\n'
        '  "vote": {"groups": {"no": ["n", "?"], "yes": ["y"]}, "missing": "no", "public": false},\n'
        '  "rain": ["no", "yes"],\n'
        '  "id": {"use": false}\n'
        "}\n"
    )


FORM = 'The declaration of column "a" must be a list of values, or an object with one of the fields'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "declares no column"),
        ('{\n"a": ', "not valid JSON: \"Expecting value: line 2"),
        (b"\xff\xfe{}", "not UTF-8 text"),
        ('{"a": ' + "[" * 200_000, "not valid JSON"),
        ('{"a": {"points": [' + "9" * 5000 + "]}}", "not valid JSON"),
        ("a = [", "not JSON or TOML"),
        ("[]", "not JSON or TOML"),
        ('{"a": 1, "a": 2}', 'has the field "a" twice'),
        ('{"\\ud800": 1, "\\ud800": 2}', r'has the field "\ud800" twice'),
        ('{" ": {}}', "Every column needs a name"),
        ('{"\\ud800": {}}', "contains half a character"),
        ('{"a": ["\\udfff"]}', "contains half a character"),
        ('{"a": {"meaning": "\\udfff"}}', "contains half a character"),
        ("a = {cuts = [1, 2]}", "a needs a lower limit"),
        ('a = {cuts = [0, 1, 2], missing = "-1"}', "without quotation marks: missing = -1."),
        ('a = {cuts = [0, 1, 2], missing = ["u"]}', 'must be a number, not "u"'),
        ('{"a": {"values": ["x"], "missing": 9}}', 'groups = { unknown = ["9"] }'),
        *((f'{{"a": {entry}}}', FORM) for entry in (
            "1", '"xy"', "null", '{"cut": [1]}', '{"values": "xy"}', '{"points": 3}', '{"groups": [["x", ["y"]]]}',
            '{"values": ["x"], "points": [1]}', '{"missing": true}', '{"public": true}', '{"use": 1}',
            '{"values": ["x"], "public": "yes"}', '{"values": ["x"], "missing": {}}',
        )),
        ('{"a": [["x"]]}', "which is no text or number"),
        ('{"a": {"groups": {"x": "y"}}}', 'list of its values, not "y"'),
        ('{"a": {"cuts": [1, 2, null]}}', "a needs a lower limit"),
        ('{"a": {"points": [true]}}', "must be a number, not"),
        ('{"a": ["x", "x"]}', 'The name "x" is used twice for a state of "a"'),
        ('{"a": [" "]}', "is empty or not text"),
        ('{"a": []}', "has 0 states; it needs 1 to 256"),
        ('{"a": {"values": ["x"], "missing": " "}}', 'state of "a" needs a name'),
        ('{"a": {"points": [2, 1]}}', "must increase; 1 follows 2"),
        ('{"a": {"points": [NaN]}}', 'must be a number, not "nan"'),
        ('{"a": {"points": [1e999]}}', "must be between"),
        ('{"a": {"points": []}}', "at least one cut point"),
        (f'{{"a": {{"points": {[*range(256)]}}}}}', "257 states; it needs 1 to 256"),
        ('{"a": {"groups": {"x": ["v"], "y": ["v"]}}}', '"v" is used twice'),
    ],
)  # fmt: skip
def test_every_way_to_be_wrong_is_one_sentence(text: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)) as refused:
        read_domains(text)
    message = str(refused.value)
    message.encode()
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


def test_toml_and_json_declare_what_python_declares() -> None:
    declared = declare(
        {"age": cuts(0, 30, 50, 120, None), "smoker": [False, True], "region": {"north": ["a"], "south": ["b"]}}
    )
    toml = """
    age = {cuts = [0, 30, 50, 120], missing = true}
    smoker = [false, true]
    [region]
    groups = {north = ["a"], south = ["b"]}
    """
    text = '{"age": {"cuts": [0, 30, 50, 120], "missing": true}, '
    text += '"smoker": [false, true], "region": {"groups": {"north": ["a"], "south": ["b"]}}}'
    assert tuple(column.domain for column in read_domains(toml)) == declared
    assert read_domains(text) == read_domains(toml)


FIELDS = ("values", "groups", "cuts", "points", "missing", "public", "use")


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
))  # fmt: skip
def test_any_json_is_read_or_refused(value: object) -> None:
    for text in (json.dumps({"a": value}), json.dumps({"a": {"values": ["x"], "missing": value}})):
        with contextlib.suppress(InputError):
            assert read_domains(text)


@given(st.binary(max_size=80))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        read_domains(data)


def test_a_refused_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text("a = [")
    with pytest.raises(InputError, match=r'The file ".*d\.toml" is not JSON or TOML'):
        read_domains(tmp_path / "d.toml")


def test_a_description_fits_the_table_that_it_describes_and_no_other() -> None:
    a, b = DeclaredColumn("a", Cuts("a", (1,))), DeclaredColumn("b", use=False)
    assert for_table((b, a), ("a", "b")) == (a, b)
    with pytest.raises(InputError, match='"b" has the name of another column, "a"'):
        DeclaredColumn("b", a.domain)
    with pytest.raises(InputError, match='Only one of the description and the table has a column "b"'):
        for_table((a, b), ("a",))
    with pytest.raises(InputError, match='Only one of the description and the table has a column "c"'):
        for_table((a, b), ("a", "b", "c"))
