"""A simulated adaptive release on Network."""

from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpbayes as dp
from dpbayes.base.randomness import stream
from dpbayes.experiments.table_errors import pair_error
from dpbayes.ui.pages.network.adaptive import payments_of, table_costs
from dpbayes.ui.session.chosen import Chosen
from tests.pages.conftest import one_sentence, open_page, plain, press, put, settings_of, unfold

PAGE = "pages/network.py"


def offered(**query: str) -> AppTest:
    at = open_page(PAGE, **query)
    return unfold(at, "adaptive")


def finding(at: AppTest) -> str:
    return next(text.value for text in at.markdown if text.value.startswith("The simulated release has"))


def test_a_simulated_release_states_its_error_and_what_the_budget_paid_for(path: Path) -> None:
    at = offered()
    chosen = Chosen(settings_of(at))
    data = chosen.dataset
    release = dp.simulate_adaptive(data, epsilon=1, delta="0.00001", rng=stream(chosen.seed, "adaptive"))
    error = pair_error(data, release.network, release.probabilities)
    assert f"{error:.2g}" in plain(finding(at))
    assert "with the drawing as a public graph" in finding(at)
    payments = payments_of(release)
    assert sum(payment.share for payment in payments) == pytest.approx(
        float(release.spent / release.plan.rho), rel=1e-6
    )
    assert {payment.is_choice for payment in payments} == {True, False}
    (frame,) = (frame.value for frame in at.dataframe if "budget for its arrows" in frame.value)
    assert len(frame) == len(data.names)
    before = finding(at)
    assert finding(put(at, "adaptive.epsilon", "10")) != before


def test_the_graph_becomes_the_drawing(path: Path) -> None:
    at = offered()
    chosen = Chosen(settings_of(at))
    release = dp.simulate_adaptive(chosen.dataset, epsilon=1, delta="0.00001", rng=stream(chosen.seed, "adaptive"))
    at = press(at, "Use this graph as the drawing")
    assert set(Chosen(settings_of(at)).network.edges) == set(release.network.edges)


@pytest.mark.parametrize(("name", "text"), [("epsilon", "none"), ("delta", "none"), ("delta", "2")])
def test_a_number_that_cannot_be_is_one_sentence(path: Path, name: str, text: str) -> None:
    one_sentence(put(offered(), f"adaptive.{name}", text), name)


def test_the_recipient_is_offered_none(path: Path) -> None:
    at = offered(seat="recipient")
    assert not any("adaptive" in button.label for button in at.button)
    assert not any(text.value.startswith("The simulated release has") for text in at.markdown)


def test_the_error_of_pairs_is_the_total_variation_counted_by_hand() -> None:
    network = dp.chain(2)
    data = dp.Dataset(network.names, network.states, np.array([[0, 0], [0, 0], [1, 1], [1, 0]]))
    uniform = np.full(network.cell_count, 0.5)
    # Shares 1/2, 0, 1/4, 1/4 against four quarters.
    assert pair_error(data, network, uniform) == pytest.approx(0.25)
    exact = dp.count(network, data).values
    assert pair_error(data, network, exact / network.over_cells(network.row_sums(exact))) == pytest.approx(0, abs=1e-12)


def test_the_cost_of_an_arrow_is_found_whatever_its_columns_are_called() -> None:
    source, cpts = dp.load_named("asia")
    sampled = dp.sample_dataset(source, cpts, 5000, np.random.default_rng(1))
    data = dp.Dataset(tuple(f"{name} - x" for name in sampled.names), sampled.states, sampled.codes)
    release = dp.simulate_adaptive(data, epsilon=10, delta="0.00001", rng=np.random.default_rng(1))
    shares = table_costs(release, data)["budget for its arrows"]
    has_parents = [len(family) > 1 for family in release.network.families]
    assert any(has_parents)
    assert all((text not in ("", "0.0%")) == has for text, has in zip(shares, has_parents, strict=True))
