"""Plans on the Explore page: what is exported is imported, and what the page cannot show is one sentence."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.base import rule_for
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PriorRule, prior_rule
from dpbayes.releases.document.plan import PlanFile, read_plan, write_plan
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.sources.shipped_tables import default_network
from dpbayes.ui.pages.explore.make import plan_of, settings_of_plan
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.graphs import Graph, code_of, drawable
from dpbayes.ui.session.settings import Settings
from tests.pages.conftest import fine, one_sentence, open_page, press, sentences, settings_of, unfold
from tests.releases.asking import request_of
from tests.releases.test_plan import ADAPTIVE

PAGE = "pages/explore.py"


def wide_graph() -> str:
    """Return the graph of four columns, one of which has 12 cells or more."""
    whole = default_network("house_votes_84")
    states = {name: whole.states[whole.index(name)] for name in whole.names[:4]}
    first, second, third, last = states
    return code_of(
        drawable(Graph.of(Network.from_edges(states, [(first, last), (second, last), (third, last)], states)))
    )


WIDE = wide_graph()


def load(at: AppTest, data: bytes) -> AppTest:
    fine(at.file_uploader(key="plan.file").set_value(("plan.json", data, "application/json")).run())
    return press(at, "Use this plan")


def opened(at: AppTest) -> AppTest:
    return unfold(at, "plan")


def settings(**fields: object) -> Settings:
    chosen = Settings(**{"data": "house_votes_84", "graph": "", **fields})  # type: ignore[arg-type]
    return chosen.with_parameter("epsilon", 0.5)


@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "ConsistentLaplace", "GaussianResiduals", "MapExponential"])
def test_settings_become_a_plan_and_the_same_settings_again(mechanism: str) -> None:
    own = settings(
        mechanism=mechanism, prior=PriorRule.symmetric(0.5), target="crime", evidence=(("party", "democrat"),)
    )
    plan = read_plan(write_plan(plan_of(Chosen(own))))
    assert isinstance(plan.request, ReleaseRequest)
    other = Chosen(settings(mechanism="LaplaceFourier").with_parameter("epsilon", 2))
    again = settings_of_plan(plan, other)
    assert (again.mechanism, again.prior, again.target, again.evidence) == (
        mechanism,
        own.prior,
        own.target,
        own.evidence,
    )
    assert plan_of(Chosen(again)).request.question == plan.request.question


@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "MapExponential"])
@pytest.mark.parametrize("text", ["capped", "capped:8", "bdeu", "bdeu:0.3", "0.5"])
def test_the_prior_of_a_plan_is_the_rule_that_it_was_made_under(mechanism: str, text: str) -> None:
    wide = {"mechanism": mechanism, "graph": WIDE}
    plan = read_plan(write_plan(plan_of(Chosen(settings(prior=prior_rule(text), **wide)))))
    assert isinstance(plan.request, ReleaseRequest)
    for before in ("0.7", "capped", text):
        again = settings_of_plan(plan, Chosen(settings(prior=prior_rule(before), **wide)))
        assert plan_of(Chosen(again)).request.question == plan.request.question
        used = rule_for(kind_called(mechanism), again.prior)
        assert used == rule_for(kind_called(mechanism), prior_rule(text))
    # The prior in the request is that of the page's mechanism, to twelve digits.
    np.testing.assert_allclose(plan.request.dirichlets.alpha, Chosen(again).mechanism.prior.alpha, rtol=1e-11)


def test_a_plan_with_a_prior_of_no_rule_is_refused() -> None:
    plan = plan_of(Chosen(settings(graph=WIDE)))
    assert isinstance(plan.request, ReleaseRequest)
    odd = ("2", *plan.request.prior[1:])
    with pytest.raises(InputError, match="capped prior, BDeu or one prior for all cells"):
        settings_of_plan(replace(plan, request=replace(plan.request, prior=odd)), Chosen(settings()))


def test_a_plan_is_imported_on_the_page() -> None:
    at = opened(open_page(PAGE, data="house_votes_84"))
    plan = plan_of(Chosen(settings(mechanism="ConsistentLaplace", prior=PriorRule.symmetric(2.0))))
    at = load(at, write_plan(plan))
    now = settings_of(at)
    assert (now.mechanism, now.prior, now.parameter("epsilon")) == ("ConsistentLaplace", PriorRule.symmetric(2.0), 0.5)
    assert not sentences(at)


def test_a_file_that_is_no_plan_is_one_sentence() -> None:
    at = opened(open_page(PAGE, data="house_votes_84"))
    before = settings_of(at)
    at = load(at, b"{}")
    one_sentence(at, "This file is not a plan")
    assert settings_of(at) == before


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        (PlanFile(ADAPTIVE), "of a different kind"),
        (PlanFile(request_of()), "with the states of the plan"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(plan: PlanFile, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        settings_of_plan(plan, Chosen(settings()))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"prior": tuple(["1"] * 35 + ["2"])}, "one prior for all cells"),
        ({"mechanism": "gaussian", "rho": Fraction(1, 2)}, "a guarantee in epsilon and delta"),
    ],
)
def test_what_the_page_cannot_show_is_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        settings_of_plan(PlanFile(request_of(**changes)), Chosen(Settings()))
