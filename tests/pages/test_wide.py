"""Graphs in which a node has many parents: every page opens, and its work and its bytes stay within bounds.

Work is counted, not timed: `python -m benchmarks` has the times.
"""

import itertools
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import pytest
import streamlit as st

from dpbayes.audit.loss import trimmed
from dpbayes.experiments.claims import BoundClaim
from dpbayes.theory.claims import setting as bounds_subject
from dpbayes.ui.session.graphs import Graph, code_of, graph_of, network_of
from dpbayes.ui.session.options import AuditSubject, ProofsView
from tests.conftest import crossed, thorough
from tests.pages.conftest import boards, frame_of, freed, open_page, sentences


def star(parents: int, children: int = 1) -> str:
    """Return the code of a graph whose last nodes have all the others as parents."""
    above, below = [f"p{i}" for i in range(parents)], [f"c{i}" for i in range(children)]
    return code_of(Graph((*above, *below), tuple(itertools.product(above, below))))


WIDE = [star(16), star(18), star(16, 2)]
IDS = ["16 parents", "18 parents", "two nodes with 16 parents"]


@pytest.fixture(autouse=True)
def no_wide_releases_are_kept_for_the_next_test() -> Iterator[None]:
    """A session of a wide graph holds a hundred megabytes, in a circle."""
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    freed()


def no_simulation(*_: object, **__: object) -> NoReturn:
    raise AssertionError("noise of every coefficient was simulated")


SMALL = {"cpts": "random", "records": "100"}


# Bounds

CLAIMS_VIEW = {"proofs.view": ProofsView.CLAIMS.value}

SAID = {
    BoundClaim.THEOREM_1: "is proved.",
    BoundClaim.EXPECTATION: "the exact mean is",
    BoundClaim.PROPOSITION_1: "the proved bound is",
    BoundClaim.CLIPPED: "the proved bound is",
    BoundClaim.THEOREM_3: "the proved bound is",
    BoundClaim.COROLLARY_3: "the proved bound is",
}


@pytest.mark.parametrize(("graph", "claim"), crossed(WIDE, list(SAID), times=1))
def test_a_bound_of_a_wide_graph_is_shown_without_a_simulation_and_says_so(
    graph: str, claim: BoundClaim, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpbayes.theory.zhang16.posterior_kl.exhibits.simulate_kl", no_simulation)
    at = open_page("pages/proofs.py", source=graph, **CLAIMS_VIEW, **{"proofs.bound": claim.value}, **SMALL)
    assert not sentences(at)
    frame = frame_of(boards(at)[-1])  # below an example of a failure that the picture does not show
    assert SAID[claim] in frame["headline"]
    assert "nan" not in frame["headline"]
    assert "bound" in frame["figures"]
    cells = network_of(graph_of(graph)).cell_count
    note = frame["captions"]["bound"]
    assert f"Nothing is simulated: 400 releases of {cells:,} numbers each are too many" in note
    assert "Simulated" not in note


def test_what_is_exact_of_a_bound_is_the_same_with_a_simulation_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a graph that is small enough for both."""
    for claim in (BoundClaim.REFINED, BoundClaim.PROPOSITION_1):
        shown = []
        for most in (bounds_subject.MOST_CELLS, 0):
            monkeypatch.setattr(bounds_subject, "MOST_CELLS", most)
            at = open_page("pages/proofs.py", source=star(5), **CLAIMS_VIEW, **{"proofs.bound": claim.value}, **SMALL)
            curves = frame_of(boards(at)[-1])["figures"]["bound"]["data"]
            shown.append({curve["name"]: curve["y"] for curve in curves if curve["mode"] == "lines"})
            assert any("simulated" in curve["name"] for curve in curves) == bool(most)
            monkeypatch.undo()
        simulated, exact = shown
        assert any("exact mean" in name for name in exact)
        assert simulated.keys() == exact.keys()
        for name in exact.keys() - {"allowed by the claim"}:  # a field that begins where the picture does
            np.testing.assert_array_equal(simulated[name], exact[name])


# Audit


AUDITED = [
    *itertools.product(WIDE, (AuditSubject.LaplaceUpdates, AuditSubject.PosteriorSampler, AuditSubject.MapExponential)),
    (WIDE[0], AuditSubject.LaplaceFourier),
]


ONE_OF_A_KIND = [AUDITED[place] for place in (0, 4, 8, 9)]
"""Each graph and each subject once."""


@pytest.mark.parametrize(
    ("audited", "seat"), crossed(thorough(AUDITED, sample=ONE_OF_A_KIND), ["curator", "recipient"], times=1)
)
def test_a_wide_graph_is_audited(audited: tuple[str, AuditSubject], seat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, subject = audited
    sizes: list[int] = []
    masses = trimmed.log_mass_between

    def weighed(a: np.ndarray, *more: Any) -> np.ndarray:
        sizes.append(a.size)
        return masses(a, *more)

    monkeypatch.setattr(trimmed, "log_mass_between", weighed)
    at = open_page("pages/proofs.py", source=graph, seat=seat, **{"audit.subject": subject.value}, **SMALL)
    assert "guesses" in frame_of(boards(at)[0])["figures"]
    assert max(sizes, default=0) < 10_000, "of the rows that no record is in, none is weighed"
