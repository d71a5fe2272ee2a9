"""Links that people saved open the same view, whatever moves in the code."""

import zlib
from base64 import urlsafe_b64encode
from urllib.parse import parse_qsl

import pytest

from dpbayes.mechanisms import Calibration
from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.theory.claims.setting import Axis
from dpbayes.theory.index import EXHIBITS
from dpbayes.ui.session.graphs import graph_of
from dpbayes.ui.session.link import MOVED, VIEWS, place_now, query_of, settings_from, settings_now, view_of
from dpbayes.ui.session.options import groups_of
from dpbayes.ui.session.settings import Cpts, Seat
from tests.pages.conftest import figures, headline, open_page, sentences

GRAPH = urlsafe_b64encode(
    zlib.compress(b'{"n":["rain","grass"],"e":[[0,1]],"p":[[10,20],null],"s":{"1":["dry","wet"]}}')
).decode()

SAVED = {
    "release?target=dysp&evidence=smoke~yes": {"target": "dysp", "evidence": (("smoke", "yes"),)},
    "release?data=house_votes_84&target=party&evidence=physician_fee_freeze~y&seat=recipient": {
        "data": "house_votes_84",
        "seat": Seat.RECIPIENT,
    },
    "release?mechanism=PosteriorSampler&calibration=as+printed&epsilon=2&draws=5": {
        "mechanism": "PosteriorSampler",
        "parameters": (("calibration", Calibration.AS_PRINTED), ("draws", 5), ("epsilon", 2.0)),
    },
    "release?mechanism=MapExponential&cells=50&row=lung+%7C+smoke%3Dyes&state=no&zoom=True": {
        "mechanism": "MapExponential",
        "row": "lung | smoke=yes",
        "state": "no",
        "zoom": True,
    },
    "accuracy?source=bayes%3A16&cpts=random&records=50&mechanism=LaplaceFourier&target=class": {
        "source": "bayes:16",
        "cpts": Cpts.RANDOM,
        "records": 50,
        "mechanism": "LaplaceFourier",
    },
    "network?source=alarm&records=20000": {"source": "alarm", "records": 20_000},
    f"network?graph=g%3A{GRAPH.rstrip('=')}": {"graph": f"g:{GRAPH.rstrip('=')}"},
    "stealth?epsilon=0.5&stealth.t=1.25&stealth.aim=by+t&seed=7": {"seed": 7},
    "bounds?bounds.claim=ALT-14+Lemma+3%3A+exponential+records&bounds.rate=2.5&bounds.axis=L": {
        "parameters": (("bounds.axis", Axis.LEVEL), ("bounds.claim", "ALT_LEMMA_3"), ("bounds.rate", 2.5)),
    },
    "bounds?bounds.claim=Notes%2C+Section+2.2%3A+privacy+with+local+sensitivity&bounds.size=40&prior=0.5": {
        "prior": PriorRule.symmetric(0.5)
    },
    "audit?audit.subject=Hellinger%2C+smooth+sensitivity+%28one+die%29&audit.n=12&epsilon=0.8": {},
    "hellinger?hellinger.n=50&hellinger.balance=skewed&epsilon=2": {},
    "regression?regression.features=6&regression.norm_bound=from+a+certified+%CE%B5&regression.repeats=5": {},
    "robustness?robustness.family=binomial&robustness.prior=100": {},
    "sampling?sampling.answers=50&epsilon=4&data_seed=3": {"data_seed": 3},
}
"""Links as they were copied, and what was chosen in them; an option of an enum by its name where it has no home."""


@pytest.mark.parametrize("link", SAVED)
def test_a_saved_link_has_the_settings_that_it_had(link: str) -> None:
    query = dict(parse_qsl(link.partition("?")[2]))
    settings, problems = settings_from(query)
    assert problems == ()
    for name, value in SAVED[link].items():
        chosen = getattr(settings, name)
        if name == "parameters":
            chosen = tuple((key, getattr(v, "name", v) if key == "bounds.claim" else v) for key, v in chosen)
        assert chosen == value, name
    query.pop("zoom", None)  # the posterior is zoomed by default now
    # Former versions had 1 in every cell of the prior, which a link states now.
    assert query_of(settings) == {"prior": "1"} | query, "every part of the link is read, and written as it was"


@pytest.mark.parametrize("link", SAVED)
def test_a_saved_link_opens_its_page_without_a_complaint(link: str) -> None:
    page, _, query = link.partition("?")
    settings, _ = settings_from(dict(parse_qsl(query)))
    at = open_page(f"pages/{place_now(page)}.py", **query_of(settings_now(page, settings)))
    assert not [sentence for sentence in sentences(at) if "ignored" in sentence]
    assert headline(at)


NOTES = {"papers.claim": "[Notes] Section 2.2"}


@pytest.mark.parametrize(
    ("page", "query", "place", "picture"),
    [
        ("bounds", {}, "[Zhang16] Theorem 1", "bounds"),
        ("bounds", NOTES | {"bounds.claim": EXHIBITS["LEMMA_1"].title}, "[Zhang16] Lemma 1", "bounds"),
        ("papers", NOTES, "[Notes] Section 2.2", "bounds"),
        ("robustness", {"robustness.family": "binomial"}, "[Dimitrakakis14] Theorem 1(ii)", "robustness.moved"),
    ],
)
def test_a_link_to_a_page_that_became_part_of_claims_opens_its_claim_and_its_picture(
    page: str, query: dict[str, str], place: str, picture: str
) -> None:
    settings, problems = settings_from(query)
    assert not problems
    at = open_page(f"pages/{place_now(page)}.py", **query_of(settings_now(page, settings)))
    assert at.selectbox(key="parameter.papers.claim").value.value == place
    assert picture in figures(at)


PICTURES = {"best_noise": "compare.noise", "stealth": "compare.non_negativity"}


@pytest.mark.parametrize("place", PICTURES)
def test_the_former_address_of_a_page_has_its_picture_on_the_page_it_moved_to(place: str) -> None:
    at = open_page(f"pages/{place_now(place)}.py", **view_of(place), source="sprinkler")
    assert PICTURES[place] in figures(at)


def test_the_views_of_former_pages_are_settings_of_the_pages_that_have_them() -> None:
    assert set(VIEWS) <= set(MOVED)
    for place in MOVED:
        settings, problems = settings_from(dict(view_of(place)))
        assert problems == ()
        assert all(name.partition(".")[0] in groups_of(place_now(place)) for name, _ in settings.parameters)


def test_the_drawing_in_a_saved_link_is_the_one_that_was_drawn() -> None:
    graph = graph_of(f"g:{GRAPH.rstrip('=')}")
    assert graph.names == ("rain", "grass")
    assert graph.edges == (("rain", "grass"),)
    assert graph.states == {"grass": ("dry", "wet")}
    assert graph.places == {"rain": (10.0, 20.0)}
