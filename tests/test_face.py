"""The public face: every name of `import dpbayes as dp` documents its arguments, result, refusals and an example."""

import dataclasses
import doctest
import inspect
import re
from functools import cached_property
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import dpbayes as dp

CALLABLES = {name: value for name in dp.__all__ if callable(value := getattr(dp, name))}

REFUSES_NOTHING = {
    "AdaptiveAudit",
    "AdaptiveRelease",
    "Calibration",
    "InputError",
    "Noise",
    "Release",
    "UnaccountedWarning",
    "write_domains",
    "write_edges",
}
"""What raises no InputError of its own."""

SECTION = re.compile(r"^(Args|Returns|Raises|Example):$", re.MULTILINE)


def sections(value: Any) -> dict[str, str]:
    """Return the parts of a docstring by their titles; "" is the summary and what explains it."""
    parts = SECTION.split(inspect.getdoc(value) or "")
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def parameters(value: Any) -> list[str]:
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value) if field.init]
    if inspect.isclass(value):
        return []
    return list(inspect.signature(value).parameters)


@pytest.mark.parametrize("name", CALLABLES)
def test_a_docstring_has_its_sections_in_order(name: str) -> None:
    value, parts = CALLABLES[name], sections(CALLABLES[name])
    assert re.match(r"[^\n]+[.\])]\n", parts[""]), "the summary is one line"
    assert list(parts)[1:] == [title for title in ("Args", "Returns", "Raises", "Example") if title in parts]
    assert re.findall(r"^    (\w+): \S", parts.get("Args", ""), re.MULTILINE) == parameters(value)
    assert ("Returns" in parts) == (not inspect.isclass(value))
    assert ("InputError: " in parts.get("Raises", "")) == (name not in REFUSES_NOTHING)
    assert ">>> " in parts["Example"]


def members() -> list[str]:
    """The public methods and properties of the classes of the face, and of their instances."""
    kinds = {name: value for name, value in CALLABLES.items() if inspect.isclass(value)}
    named = [
        (f"{name}.{member}", inspect.getattr_static(kind, member))
        for name, kind in kinds.items()
        for member in dir(kind)
    ]
    described = (property, classmethod, staticmethod, cached_property, FunctionType)
    return [name for name, member in named if "._" not in name and isinstance(member, described)]


@pytest.mark.parametrize("name", members())
def test_a_member_has_a_docstring(name: str) -> None:
    kind, member = name.split(".")
    assert any(inspect.getdoc(vars(base)[member]) for base in getattr(dp, kind).__mro__ if member in vars(base))


@pytest.mark.parametrize("name", CALLABLES)
def test_the_example_prints_what_it_shows(name: str) -> None:
    value = CALLABLES[name]
    names = {"dp": dp, "np": np}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", names, name, None, None)
    failures: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=failures.append)
    assert outcome.attempted
    assert not outcome.failed, "".join(failures)


NETWORK, CPTS = dp.load_named("alarm")
COUNTS = dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1)))
MECHANISM = dp.LaplaceUpdates(prior=NETWORK, epsilon=1)
RELEASE = MECHANISM.simulate(COUNTS, np.random.default_rng(2))
SHOWN = (
    (NETWORK, "37 nodes, 46 arrows", "HISTORY"),
    (COUNTS, "1,000 records in 752 cells", "LVFAILURE"),
    (RELEASE.posterior, "Dirichlets of 243 rows", "LVFAILURE"),
    (RELEASE, "Simulated release by Laplace", "noise scale"),
    (dp.audit_report(MECHANISM, n=1000, epsilons=[1]), "Audit", "holds and is tight"),
)


@pytest.mark.parametrize(("value", "title", "part"), SHOWN, ids=[type(value).__name__ for value, _, _ in SHOWN])
def test_a_value_shows_itself_in_ten_lines_and_as_a_table(value: Any, title: str, part: str) -> None:
    lines, table = str(value).splitlines(), value._repr_html_()
    assert title in lines[0]
    assert part in str(value) or part in table
    assert len(repr(value).splitlines()) <= 10
    assert 5 <= len(lines) <= 10
    assert max(map(len, lines)) <= 100
    assert f"<caption>{lines[0]}</caption>" in table
    assert 5 <= table.count("<tr>") <= 13


def test_a_release_shows_none_of_its_numbers() -> None:
    other = MECHANISM.simulate(COUNTS, np.random.default_rng(3))
    assert not np.array_equal(other.numbers, RELEASE.numbers)
    assert (str(other), other._repr_html_()) == (str(RELEASE), RELEASE._repr_html_())


def test_names_from_a_file_are_text_and_not_markup() -> None:
    network = dp.Network.from_edges(["<img src=x>", "b"], [("<img src=x>", "b")])
    assert "<img" not in network._repr_html_()
    assert "<img" not in dp.Dirichlets.symmetric(network)._repr_html_()
