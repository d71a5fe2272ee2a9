"""What epsilon means for one person, on Release: the core's sentences, for both seats, as the belief and k are set."""

import math

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.audit.risk import LINKED, belief_sentence, risk, sentences
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.mechanisms import GaussianUpdates, LaplaceUpdates
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.settings import Seat
from tests.pages.conftest import (
    board_texts,
    everything,
    figures,
    open_page,
    put,
    settings_of,
    slide,
    unfold,
)

PAGE = "pages/explore.py"


def person(**query: str) -> AppTest:
    """Return the page with the part open."""
    at = open_page(PAGE, source="sprinkler", records="200", **query)
    return unfold(at, "person.open")


@pytest.mark.parametrize("seat", list(Seat))
def test_both_seats_read_the_sentences_of_the_core(seat: Seat) -> None:
    at = person(seat=seat.value)
    prior = Dirichlets.symmetric(load_named("sprinkler")[0])
    assert sentences([risk(LaplaceUpdates(prior=prior, epsilon=1.0), n=200)]) in [m.value for m in at.markdown]
    assert any(caption.value.startswith(LINKED) for caption in at.caption)
    most = figures(at)["person"]["data"][0]
    for before, after in zip(most["x"][1:-1], most["y"][1:-1], strict=True):
        assert math.log(after / (1 - after)) - math.log(before / (1 - before)) == pytest.approx(1.0, rel=1e-4)


def in_short(at: AppTest) -> str:
    (line,) = [text for text in board_texts(at) if "about one person" in text]
    return line


@pytest.mark.parametrize("seat", list(Seat))
def test_one_line_says_it_before_the_part_is_opened_and_follows_what_is_set(seat: Seat) -> None:
    at = open_page(PAGE, source="sprinkler", records="200", seat=seat.value)
    assert in_short(at) == "An attacker’s 10% belief about one person can rise to at most 23.2%."
    slide(at, "epsilon", 2.0)
    assert in_short(at) == "An attacker’s 10% belief about one person can rise to at most 45.1%."


@pytest.mark.parametrize(
    ("promise", "line"),
    [
        (NON_PRIVATE, "An attacker’s 10% belief about one person can rise to certainty: there is no guarantee."),
        (Guarantee(1000.0), "An attacker’s 10% belief about one person can rise to near certainty."),
        (
            Guarantee(1.0, 1e-6),
            "An attacker’s 10% belief about one person can rise to at most 23.2%, apart from rare cases (δ).",
        ),
    ],
)
def test_the_line_says_what_kind_of_promise_it_is(promise: Guarantee, line: str) -> None:
    assert belief_sentence(promise) == line


def test_belief_and_releases_are_set_and_in_the_link() -> None:
    at = person()
    put(at, "box.release.suspicion", "0.5")
    put(at, "box.release.releases", "3")
    link = query_of(settings_of(at))
    assert (link["release.suspicion"], link["release.releases"]) == ("0.5", "3")
    assert "belief can rise to at most 95.3%" in everything(at)
    assert "in 99% of cases it rises to at most" in everything(at)
    mark = figures(at)["person"]["data"][-1]
    assert mark["y"][-1] == pytest.approx(1 / (1 + math.exp(-3)))


def test_a_delta_is_stated_beside_the_largest_belief() -> None:
    at = person(mechanism="GaussianUpdates", delta="0.001")
    prior = Dirichlets.symmetric(load_named("sprinkler")[0])
    text = sentences([risk(GaussianUpdates(prior=prior, epsilon=1.0, delta=1e-3), n=200)])
    assert "apart from rare cases (δ)" in text
    assert "100%" not in text
    assert text in [m.value for m in at.markdown]
