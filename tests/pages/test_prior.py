"""The choice of the prior on the pages: the rule, its number, the link, the posterior, and the Python code."""

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import PriorKind, PriorRule, prior_rule
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.settings import MECHANISM_NAMES, Settings
from tests.pages.conftest import everything, fine, open_page, put, settings_of, unfold

EXPLORE, LAB, ASIA = "pages/explore.py", "pages/lab.py", load_named("asia")[0]

FOLDS = {EXPLORE: "settings.open", LAB: "lab.more"}
"""Where the prior is folded away."""


def opened(page: str, **query: str) -> AppTest:
    at = open_page(page, **query)
    return unfold(at, FOLDS[page]) if page in FOLDS else at


def choose(at: AppTest, kind: PriorKind) -> AppTest:
    return fine(at.selectbox(key="choice.prior.kind").set_value(kind).run())


@pytest.mark.parametrize("page", [EXPLORE, "pages/proofs.py", LAB])
def test_the_rule_and_its_number_are_chosen_where_the_prior_is_set(page: str) -> None:
    at = opened(page, mechanism="PosteriorSampler")  # Proofs has no prior where the noise is the same under all
    assert at.selectbox(key="choice.prior.kind").value is PriorKind.CAPPED
    assert at.text_input(key="box.prior").label == "Weight of the prior, in records"
    put(at, "box.prior", "8")
    assert settings_of(at).prior == PriorRule(PriorKind.CAPPED, 8)
    at = choose(at, PriorKind.SYMMETRIC)
    assert settings_of(at).prior == PriorRule.symmetric(1)
    assert at.text_input(key="box.prior").label == "Prior pseudo-count per cell"
    assert at.text_input(key="box.prior").value == "1"
    at = choose(at, PriorKind.BDEU)
    put(at, "box.prior", "2.5")
    assert query_of(settings_of(at)) == {"mechanism": "PosteriorSampler", "prior": "bdeu:2.5"}


def test_every_mechanism_has_the_chosen_prior_except_private_map() -> None:
    for text in ("1", "capped", "bdeu:2", "0.3"):
        chosen = Chosen(Settings(prior=prior_rule(text)))
        for name in MECHANISM_NAMES:
            if hasattr(kind_called(name), "increment"):  # computed only while a page is drawn
                continue
            alpha = chosen.mechanism_called(name).prior.alpha
            if name == "MapExponential" and text == "capped":
                assert np.array_equal(alpha, Dirichlets.symmetric(ASIA).alpha)
            else:
                assert np.array_equal(alpha, prior_rule(text).on(ASIA).alpha)


def test_the_page_states_that_private_map_has_another_prior() -> None:
    sentence = "Private MAP uses 1 in every cell instead of a capped prior"
    assert sentence in everything(opened(EXPLORE, mechanism="MapExponential", prior="capped"))
    assert sentence not in everything(opened(EXPLORE, mechanism="MapExponential", prior="bdeu"))
    assert sentence not in everything(opened(EXPLORE, mechanism="LaplaceUpdates", prior="capped"))
