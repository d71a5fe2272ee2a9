"""Lab without a browser: each experiment in both seats, and what its controls change."""

import pytest

from dpbayes.boards.sampling import ReleasedSamples
from dpbayes.ui.pages.lab import accuracy_plan, game_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options import Experiment
from dpbayes.ui.session.settings import Settings
from tests.pages.screen import boards, fine, frame_of, open_page, sentences, settings_of

PAGE = "pages/lab.py"
FEW = {
    "source": "sprinkler",
    "records": "200",
    "accuracy.repeats": "2",
    "accuracy.training": "20",
    "regression.repeats": "2",
    "hellinger.n": "12",
    "sampling.answers": "5",
}

NAMES = {
    Experiment.ACCURACY: ["accuracy"],
    Experiment.REGRESSION: ["regression"],
    Experiment.SAMPLING: ["sampling"],
    Experiment.GAME: ["query-game"],
    Experiment.DIE: ["hellinger"],
    Experiment.COMPARISON: ["comparison"],
}


def opened(experiment, **settings):
    return open_page(PAGE, **FEW | {"lab.experiment": experiment.value} | settings)


@pytest.mark.parametrize("seat", ["curator", "recipient"])
@pytest.mark.parametrize("experiment", Experiment, ids=lambda experiment: experiment.name)
def test_every_experiment_has_its_board_in_both_seats(experiment, seat):
    at = opened(experiment, seat=seat)
    assert [board["name"] for board in boards(at)] == NAMES[experiment]
    assert not any("curator view" in caption.value for caption in at.caption), "the records are public"
    for board in boards(at):
        (frame,) = board["shown"][board["value"]]
        assert frame["headline"]
        assert set(frame["figures"]) == {panel["key"] for panel in board["panels"]}


def test_options_are_those_of_the_experiments():
    at = opened(
        Experiment.ACCURACY,
        **{
            "accuracy.scene": "naive Bayes, synthetic",
            "hellinger.sides": "3",
            "regression.draws": "4",
            "regression.noise_variance": "2",
            "epsilon": "3",
            "sampling.columns": "3",
            "seed": "9",
        },
    )
    chosen = Chosen(settings_of(at))
    plan = accuracy_plan(chosen)
    assert (plan.target, plan.training, plan.repeats, plan.seed) == ("class", 20, 2, 9)
    assert len(plan.network.names) == 17
    die, scenario = chosen.options("hellinger"), chosen.options("regression")
    assert (die.sides, die.n, die.epsilon) == (3, 12, 3.0)
    assert (scenario.draws, scenario.noise_variance) == (4, 2.0)
    assert game_of(chosen).pair.columns == 3


def drawn(**settings):
    return {
        method.name for method in accuracy_plan(Chosen(settings_of(opened(Experiment.ACCURACY, **settings)))).methods
    }


def test_curves_of_noise_aware_readers_and_of_all_mechanisms_are_drawn_if_they_are_wanted():
    usual, every = (drawn(**{"accuracy.mechanisms": name}) for name in ("Figure 1", "all"))
    assert usual < every
    assert {"private_map", "gaussian", "laplace_aware", "residuals_aware"} <= every - usual


def test_a_recipient_sees_curves_of_synthetic_records_only():
    curator, recipient = (
        Chosen(settings_of(opened(Experiment.ACCURACY, seat=seat))) for seat in ("curator", "recipient")
    )
    assert accuracy_plan(curator).source is curator.dataset
    assert accuracy_plan(recipient).source is not recipient.dataset
    for seat, count in (("curator", 3), ("recipient", 2)):
        at = opened(Experiment.ACCURACY, seat=seat, **{"accuracy.scene": "the table and its network"})
        assert len(at.selectbox(key="parameter.accuracy.scene").options) == count


def test_a_recipient_of_a_census_sees_no_error():
    for seat, records in (
        ("curator", "25,766 records of a census, 10% (2,577)"),
        ("recipient", "2,000 synthetic records, 10% (200)"),
    ):
        at = opened(Experiment.REGRESSION, seat=seat, **{"regression.records": "Fulton census", "regression.n": "2000"})
        assert f"Of {records} train" in frame_of(boards(at)[0])["captions"]["errors"]


@pytest.mark.parametrize("training", ["200", "5000"])
def test_of_a_small_table_all_records_but_one_train(training):
    at = opened(Experiment.ACCURACY, **{"accuracy.training": training})
    plan = accuracy_plan(Chosen(settings_of(at)))
    assert (plan.training, plan.testing) == (199, 1)
    assert not sentences(at)


def test_a_missing_network_is_said_once_beside_the_list_of_experiments():
    at = open_page(PAGE, Settings(data="upload"))
    assert len(sentences(at)) == 1
    assert not boards(at)
    fine(at.radio(key="parameter.lab.experiment").set_value(Experiment.DIE).run())
    assert not sentences(at)
    assert [board["name"] for board in boards(at)] == NAMES[Experiment.DIE]


def test_a_die_with_too_many_candidates_has_fewer_throws():
    at = opened(Experiment.DIE, **{"hellinger.n": "100000", "hellinger.sides": "6"})
    assert at.info[0].value == "26 throws are drawn: more, of 6 sides, have too many results."
    (board,) = boards(at)
    assert "misread throws of 26" in board["shown"][board["value"]][0]["headline"]


def test_released_samples_have_no_counts():
    assert "counts" not in ReleasedSamples.__dataclass_fields__
