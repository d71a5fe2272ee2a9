"""Documents that anybody may have changed are answered by checks and sentences, and never by a traceback."""

import copy
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpbayes.__main__ import main
from dpbayes.releases.document.canonical import canonical
from dpbayes.releases.document.document import Composed, Provenance
from dpbayes.releases.output import HOLDS, REFUSED
from dpbayes.releases.publishing import drawn_document
from dpbayes.releases.verify import verify
from tests.conftest import IS_THOROUGH
from tests.releases.asking import TIME, hashed
from tests.releases.made import counts, request_with
from tests.releases.made_adaptive import drawn_under_pure_privacy, drawn_with_a_generator

Place = tuple[str | int, ...]

VALUES: list[Any] = [
    *(
        "0/1",
        "0/0",
        "1/0",
        "-1/2",
        "1/2",
        f"1/{10**50}",
        f"{10**50}/1",
        "0",
        "1",
        "1e308",
        "nan",
        "",
        "x",
        "\u202e",
        "é",
    ),
    *(0, 1, -1, 2, 3, 7, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**62), 9 * 10**18, 10**18),
    *(True, False, None, [], {}, [0], [0, 1], [[]], ["no"], {"epsilon": "1/2"}),
]
"""What a field may be changed to."""


def written(mechanism: str) -> bytes:
    return drawn_document(request_with(mechanism=mechanism), counts(), Composed(), drawn=Provenance.at(TIME))


DOCUMENTS = {
    "laplace": json.loads(written("laplace")),
    "map": json.loads(written("map")),
    "adaptive": json.loads(drawn_with_a_generator()),
    "pure adaptive": json.loads(drawn_under_pure_privacy()),
}


def places(content: object, above: Place = ()) -> Iterator[Place]:
    """Yield the places of all values within a content."""
    inner: Any = (
        content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    )
    for key, value in inner:
        yield (*above, key)
        yield from places(value, (*above, key))


PLACES = {kind: sorted(places(content), key=str) for kind, content in DOCUMENTS.items()}


def changed(content: dict[str, Any], place: Place, how: object) -> None:
    """Change the value at a place: to another one, or to none, or to two of it."""
    inside: Any = content
    for key in place[:-1]:
        inside = inside[key]
    if how == "remove":
        del inside[place[-1]]
    elif how == "double" and isinstance(inside, list) and isinstance(place[-1], int):
        inside.insert(place[-1], copy.deepcopy(inside[place[-1]]))
    else:
        inside[place[-1]] = how


@st.composite
def mutants(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(sorted(DOCUMENTS)))
    content = copy.deepcopy(DOCUMENTS[kind])
    for place in draw(st.lists(st.sampled_from(PLACES[kind]), min_size=1, max_size=2)):
        try:
            changed(content, place, draw(st.sampled_from(["remove", "double", *VALUES])))
        except (KeyError, IndexError, TypeError):  # an earlier change took it away
            continue
    return content


def bytes_of(content: dict[str, Any]) -> bytes:
    """Return the document of a content, with hashes that match it wherever they can be computed."""
    with suppress(KeyError, TypeError, AttributeError):
        return hashed(content)
    return canonical(content)


def require_an_answer(content: dict[str, Any]) -> None:
    """Verify a document and view it, as a recipient does who has it from anybody."""
    data = bytes_of(content)
    checked = verify(data)
    assert checked.checks
    with TemporaryDirectory() as folder:
        file = Path(folder) / "release.json"
        file.write_bytes(data)
        expected = HOLDS if checked.holds else REFUSED
        assert main(["view", str(file), "--out", str(Path(folder) / "view.bif")]) == expected


@given(mutants())
@settings(max_examples=1000 if IS_THOROUGH else 100, deadline=None)
def test_a_changed_document_is_answered(content: dict[str, Any]) -> None:
    require_an_answer(content)


def test_a_cost_above_zero_is_required_everywhere() -> None:
    """The amounts of a document are read as fractions; none of them may be 0 where a scale is computed from it."""
    for kind, content in DOCUMENTS.items():
        for place in PLACES[kind]:
            value: Any = content
            for key in place:
                value = value[key]
            if isinstance(value, str) and re.fullmatch("[0-9]+/[0-9]+", value):
                for amount in ("0/1", f"1/{10**55}", f"{10**55}/1"):
                    mutant = copy.deepcopy(content)
                    changed(mutant, place, amount)
                    require_an_answer(mutant)


@pytest.mark.parametrize(
    "kind", sorted(kind for kind, own in PLACES.items() if any("prices" in place for place in own))
)
def test_prices_that_no_number_of_a_machine_adds_up_to_are_answered(kind: str) -> None:
    for place in PLACES[kind]:
        if place[-2:-1] == ("prices",) and place[-1]:
            mutant = copy.deepcopy(DOCUMENTS[kind])
            changed(mutant, place, 1 << 59)
            require_an_answer(mutant)
