"""Plans on the Explore page: what is exported is imported, and what the page cannot show is one sentence."""

from fractions import Fraction

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.validation import InputError
from dpbayes.releases.document.plan import PlanFile, read_plan, write_plan
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.ui.pages.explore.make import plan_of, settings_of_plan
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Settings
from tests.pages.conftest import fine, one_sentence, open_page, press, sentences, settings_of, unfold
from tests.releases.asking import LEARNT, request_of
from tests.releases.test_plan import ADAPTIVE

PAGE = "pages/explore.py"


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
    own = settings(mechanism=mechanism, prior=0.5, target="crime", evidence=(("party", "democrat"),))
    plan = read_plan(write_plan(plan_of(Chosen(own))))
    assert isinstance(plan.request, ReleaseRequest)
    other = Chosen(settings(mechanism="LaplaceFourier").with_parameter("epsilon", 2))
    again = settings_of_plan(plan, other)
    assert (again.mechanism, again.prior, again.target, again.evidence) == (mechanism, 0.5, own.target, own.evidence)
    assert plan_of(Chosen(again)).request.question == plan.request.question


def test_a_plan_is_imported_on_the_page() -> None:
    at = opened(open_page(PAGE, data="house_votes_84"))
    plan = plan_of(Chosen(settings(mechanism="ConsistentLaplace", prior=2.0)))
    at = load(at, write_plan(plan))
    now = settings_of(at)
    assert (now.mechanism, now.prior, now.parameter("epsilon")) == ("ConsistentLaplace", 2.0, 0.5)
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
        ({"epsilon": Fraction(1, 2), **LEARNT}, "learnt from records"),
        ({"mechanism": "weighted", "prices": tuple([2] + [1] * 19)}, "these parts of the plan: prices"),
    ],
)
def test_what_the_page_cannot_show_is_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        settings_of_plan(PlanFile(request_of(**changes)), Chosen(Settings()))
