"""Compare mechanisms, whole tables: the lines are the core's, and no record of the chosen table is counted."""

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.randomness import stream
from dpbayes.base.steps import finished
from dpbayes.experiments.table_errors import METHODS, TableTrial, mean_errors, table_errors
from dpbayes.ui.pages.compare import tables
from dpbayes.ui.session.chosen import Chosen
from tests.pages.conftest import everything, figures, headline, open_page, plain, settings_of

PAGE = "pages/compare.py"
VIEW = {"compare.view": "Whole tables"}


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "EPSILONS", (0.3, 3.0))
    monkeypatch.setattr(tables, "RUNS", 2)


def test_the_lines_and_the_headline_are_the_cores() -> None:
    at = open_page(PAGE, **VIEW)
    chosen = Chosen(settings_of(at))
    n, delta = min(chosen.n or 1000, tables.MOST_SAMPLED), float(chosen.parameter("delta"))
    network, probabilities = dp.load_named("asia")
    assert network == chosen.network
    data = dp.sample_dataset(network, probabilities, n, stream(chosen.seed, "table errors", "records"))
    trial = TableTrial(data, network, 1.0, delta)
    errors = finished(table_errors(trial, (0.3, 3.0), runs=2, seed=chosen.seed))
    means, _ = mean_errors(errors)
    figure = figures(at)["compare.tables"]
    assert [trace["name"] for trace in figure["data"]] == list(METHODS) == [look.name for look in tables.LOOKS]
    for place, trace in enumerate(figure["data"]):
        np.testing.assert_allclose(trace["y"], means[:, place], rtol=1e-6)
    at_one = mean_errors(finished(table_errors(trial, (1.0,), runs=2, seed=chosen.seed)))[0][0]
    assert headline(at) == tables.verdict(1.0, at_one)
    assert "pays for its graph" in plain(everything(at))


def test_nothing_depends_on_the_records(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("counted")

    monkeypatch.setattr("dpbayes.ui.session.chosen.Chosen.counts", property(never))
    assert "compare.tables" in figures(open_page(PAGE, **VIEW, seat="recipient"))


def test_sentences_are_of_what_is_known() -> None:
    assert "budget is too small" in tables.verdict(0.001, np.array([0.1, np.nan, 0.2, 0.3]))
    assert tables.verdict(1.0, np.array([np.nan, 0.2, 0.2, 0.3])).endswith("has a mean error of 0.2.")
    assert "with the known graph it is 0.1" in tables.verdict(1.0, np.array([0.1, 0.2, 0.2, 0.3]))
