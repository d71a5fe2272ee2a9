"""The Explore page: its numbers are the core's, its refusals are sentences, and the recipient sees nothing exact."""

import math
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import streamlit
from streamlit.testing.v1 import AppTest

from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.experiments.releases import ReadReleases, ReleaseStudy, study_release
from dpbayes.mechanisms import MECHANISMS as KINDS
from dpbayes.mechanisms import OF_RECORDS, PRIVATE, Calibration, LaplaceUpdates, Noise
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.counts import count
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_PRIOR
from dpbayes.posteriors.hellinger import Die
from dpbayes.posteriors.mixtures import BetaMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import answer_under, intervals_as_text, posterior_of
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.pages.explore import averages, simulations
from dpbayes.ui.pages.explore.averages import releases_read
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS, Readings
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.session.host import host, use_host
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.session.uploads import Upload
from dpbayes.ui.widgets import running
from tests.conftest import thorough
from tests.pages.conftest import (
    APP,
    NO_LIMIT,
    captions,
    everything,
    figures,
    fine,
    headline,
    metrics,
    one_sentence,
    one_step_at_a_time,
    open_page,
    press,
    put,
    sentences,
    settings_of,
    stop_after_a_step,
    stopped_at_the_second_picture,
    unfold,
)

PAGE = "pages/explore.py"


def study(settings: Settings) -> ReleaseStudy:
    """Return what the page should show, from the core alone."""
    network, cpts = load_named(settings.source)
    data = sample_dataset(network, cpts, settings.records, stream(settings.data_seed, "records"))
    mechanism = LaplaceUpdates(prior=settings.prior.on(network), epsilon=settings.parameter("epsilon"))
    study = study_release(mechanism, count(network, data), stream(settings.seed, "release", "LaplaceUpdates"), 200)
    return as_read(study, settings)


def as_read(study: ReleaseStudy, settings: Settings) -> ReleaseStudy:
    """Return the releases as the page's recipient reads them."""
    options = settings.options("release")
    is_aware = study.release.tells_noise and options.reading is Reading.NOISE_AWARE
    releases = releases_read(Readings(study, 0, Reading.NOISE_AWARE, options.points))
    return study.knowing_noise(releases, points=AVERAGED_POINTS) if is_aware else study


def test_the_headline_speaks_of_all_rows() -> None:
    result = study(Settings())
    assert headline(open_page(PAGE)) == (
        "With ε = 1, a noise-aware reader of a Laplace release has a mean absolute error of "
        f"{numeral(result.shifts.mean(), 2)}."
    )


def test_a_recipient_who_takes_counts_as_real_is_one_click_away() -> None:
    """Both are drawn; the headline and the numbers are of the one that was chosen."""
    at = open_page(PAGE)
    names = [trace["name"] for trace in figures(at)["density"]["data"]]
    assert names[:2] == ["private, noise-aware", "private, naive"]
    rows = {trace["name"]: trace for trace in figures(at)["rows"]["data"]}
    aware, as_real = (np.asarray(rows[name]["error_x"]["array"]) for name in names[:2])
    assert np.mean(aware) > 1.5 * np.mean(as_real)
    coverage = metrics(at)["Coverage of 95% intervals, this probability"]
    assert int(coverage.rstrip("%")) > 85
    fine(at.segmented_control(key="parameter.release.reading").set_value(Reading.AS_REAL).run())
    result = study(settings_of(at))
    assert result.aware is None
    assert headline(at) == (
        f"With ε = 1, a Laplace release has a mean absolute error of {numeral(result.shifts.mean(), 2)}."
    )
    assert "private (this release)" in [trace["name"] for trace in figures(at)["density"]["data"]]
    coverage = metrics(at)["Coverage of 95% intervals, this probability"]
    assert int(coverage.rstrip("%")) < 75


@pytest.mark.usefixtures("many_releases_are_averaged")
def test_averages_go_on_from_some_releases_to_many_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means, losses, coverage and the sentence are of all that are read by now, and say how many these are."""
    seen = stopped_at_the_second_picture(monkeypatch)
    at = open_page(PAGE, source="sprinkler", records="200")
    assert seen == [[1, 2, 2, 1], [1, 3, 3, 1]], "a step before the first picture, and one after each"
    assert "Stopped after 66 of 111 releases" in str(at.get("progress")[0].proto)
    assert "Averages are over 66 releases; averages of this cell are over 150." in everything(at)
    assert headline(at).endswith(f"of {numeral(first_of(at, 66).shifts.mean(), 2)}.")
    press(at, "Continue")
    shown, metric = study(settings_of(at)), {metric.label: metric for metric in at.metric}
    assert shown.count == 111
    assert not at.get("progress")
    assert "Averages are over 111 releases; averages of this cell are over 200." in everything(at)
    assert headline(at).endswith(f"of {numeral(shown.shifts.mean(), 2)}.")
    loss = metric["Posterior KL, all rows, nats"]
    assert loss.value == numeral(shown.kl.mean())
    assert "mean over 111 releases" in loss.help
    assert numeral(shown.kl_error, 1) in loss.help
    assert "mean over 200 releases" in metric["Coverage of 95% intervals, this probability"].help
    assert "Naive reading of the same 200 releases" in everything(at)


def first_of(at: AppTest, releases: int) -> ReleaseStudy:
    """Return so many of the releases that the page simulates, as its recipient reads them."""
    as_real = study(settings_of(at).with_parameter("release.reading", Reading.AS_REAL))
    return as_real.knowing_noise(releases, points=AVERAGED_POINTS)


@pytest.mark.usefixtures("many_releases_are_averaged")
def test_averages_begin_when_the_hand_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a number moves, no work is begun that the next move would end, and the page does not go on by itself."""
    at = open_page(PAGE, source="sprinkler", records="200")
    begun: list[int] = []
    whole = averages.read_releases

    def watched(study: ReleaseStudy, *, releases: int, points: int, at_once: int) -> Work[ReadReleases]:
        begun.append(releases)
        return whole(study, releases=releases, points=points, at_once=at_once)

    monkeypatch.setattr(averages, "read_releases", watched)
    put(at, "box.epsilon", "2")  # nobody says here that the hand rests
    assert not begun
    assert "Averages are over 22 releases; averages of this cell are over 50." in everything(at)
    put(at, "box.epsilon", "1")
    assert not begun
    assert "Averages are over 111 releases" in everything(at), "they are known from before"
    put(at, "box.epsilon", "2")
    del at.session_state["link.moving"]  # the hand rests
    fine(at.run())
    assert begun == [111]
    assert "Averages are over 111 releases" in everything(at)


@pytest.mark.usefixtures("many_releases_are_averaged")
def test_the_recipient_waits_for_no_averages(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    for name in ("read_releases", "read_cell"):
        monkeypatch.setattr(averages, name, lambda *_, name=name, **__: begun.append(name))
    at = open_page(PAGE, source="sprinkler", records="200", seat="recipient")
    assert not begun
    assert "Averages are over" not in everything(at)


def test_few_points_are_said_and_more_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    at = open_page(PAGE)
    assert not [text for text in at.text_input if text.key == "box.release.points"]
    monkeypatch.setattr("dpbayes.posteriors.noise_aware.FEW_POINTS", 1e9)
    fine(at.run())
    assert "The interval is rough" in everything(at)
    put(at, "box.release.points", "1024")
    assert settings_of(at).options("release").points == 1024
    assert "of 1,024 possible counts" in everything(at)


def test_the_errors_of_the_picked_row_and_of_the_persons_question_stand_below_the_picture() -> None:
    result = study(Settings())
    net = result.exact.network
    exact, private = result.query("dysp", {"smoke": "yes"})
    cell = net.row_labels().index("xray | either=no")
    cell = int(net.row_starts[cell]) + net.states[net.index("xray")].index("yes")
    means = f"Exact {numeral(result.exact.mean[cell], 2)}, this release {numeral(result.private[0, cell], 2)}"
    picked = f"{means}; mean absolute error {numeral(result.shifts[:, cell].mean(), 2)}"
    at = open_page(PAGE, row="xray | either=no", prior="capped")
    assert f"{picked}." in captions(at)
    at = open_page(PAGE, target="dysp", evidence="smoke~yes", row="xray | either=no", prior="capped")
    assert f"{picked}; P(dysp | smoke=yes): {numeral(np.abs(private - exact).mean(), 2)}." in captions(at)


def test_a_mechanism_that_loses_more_reads_so_on_a_table_of_ones_own() -> None:
    """The first node of this table is even, which the trimmed draws always say; the others are not."""
    names = ("coin", "b", "c", "d")
    graph = code_of(Graph(names, (), {}, dict.fromkeys(names, ("no", "yes"))))
    frame = pd.DataFrame({name: ["yes" if k % 2 and name == "coin" else "no" for k in range(400)] for name in names})
    domain = ("no", "yes")
    shown = {}
    for mechanism in ("LaplaceUpdates", "PosteriorSampler"):
        codes = np.array([[domain.index(value) for value in frame[name]] for name in names], dtype=np.uint8).T
        at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
        at.session_state["settings"] = Settings(data="upload", graph=graph, mechanism=mechanism)
        at.session_state["upload"] = Upload("mine.csv", frame, Dataset(names, (domain,) * 4, codes))
        at.switch_page(PAGE)
        fine(at.run())
        shown[mechanism] = float(headline(at).split(" error of ")[1].removesuffix("."))
        assert "coin" not in headline(at)
    assert shown["PosteriorSampler"] > 3 * shown["LaplaceUpdates"]


def test_the_recipients_headline_says_what_the_release_says() -> None:
    result = study(Settings())
    net = result.exact.network
    start = "With ε = 1, this release estimates "
    cell = int(net.row_starts[net.row_labels().index("dysp | bronc=yes, either=no")])
    value = result.release.part(0).noise_aware_cells(np.array([cell])).mean[0]
    says = f"P(dysp=yes | bronc=yes, either=no) at {numeral(value, 2)}."
    assert headline(open_page(PAGE, seat="recipient")) == start + says
    answer = result.query("dysp", {"smoke": "yes"})[1][0, 0]
    says = f"P(dysp=yes | smoke=yes) (your question) at {numeral(answer, 2)}."
    assert headline(open_page(PAGE, seat="recipient", target="dysp", evidence="smoke~yes")) == start + says


def test_a_question_that_has_no_answer_is_not_in_the_headline() -> None:
    query = {"target": "tub", "evidence": "either~no~~lung~yes", "prior": str(LEAST_PRIOR), "records": "10000"}
    for seat in Seat:
        at = open_page(PAGE, seat=seat.value, **query)
        assert "your question" not in headline(at) or not sentences(at)
        assert "unknown" not in headline(at)


MECHANISMS = ("LaplaceUpdates", "LaplaceFourier", "PosteriorSampler", "MapExponential")
ALIKE = ("Mean absolute error, all rows", "Prediction KL, all rows, nats", "Prediction KL, this row, nats")
OF_POSTERIORS = (
    "Posterior KL, all rows, nats",
    "Posterior KL, this row, nats",
    "Coverage of 95% intervals, this probability",
)


def simulated(at: AppTest) -> ReleaseStudy:
    """Return the releases that the page shows, from the core alone."""
    settings = settings_of(at)
    network, cpts = load_named(settings.source)
    data = sample_dataset(network, cpts, settings.records, stream(settings.data_seed, "records"))
    kind = next(kind for kind in KINDS if kind.__name__ == settings.mechanism)
    own = {name: settings.parameter(name) for name in parameters_of(kind) if name != "t"}
    own |= {"t": 0.2462} if "t" in parameters_of(kind) else {}
    mechanism = kind(prior=rule_for(kind, settings.prior).on(network), **own)
    study = study_release(mechanism, count(network, data), stream(settings.seed, "release", settings.mechanism), 200)
    return as_read(study, settings)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_one_spot_has_one_meaning_whatever_the_mechanism_is(mechanism: str) -> None:
    at = open_page(PAGE, mechanism=mechanism, t="0.2462")
    release = simulated(at)
    row = release.exact.network.row_labels().index("dysp | bronc=yes, either=no")
    shown = metrics(at)
    further = OF_POSTERIORS if release.is_posterior else ()
    assert tuple(label for label in shown if label not in ("Stated", "Proved")) == (*ALIKE, *further)
    lost = release.predictive_kl_rows.mean(axis=0)
    for label, value in zip(ALIKE, (release.shifts.mean(), lost.sum(), lost[row]), strict=True):
        assert float(shown[label].replace(",", "")) == pytest.approx(value, rel=0.01), label
    assert figures(at)["kl"]["layout"]["xaxis"]["title"]["text"] == "prediction KL(exact || private), mean, nats"
    bars = figures(at)["kl"]["data"][0]["x"]
    np.testing.assert_allclose(bars, np.sort(lost)[::-1][: len(bars)])
    if release.is_posterior:
        kls = release.kl_rows.mean(axis=0)
        for label, value in zip(OF_POSTERIORS, (kls.sum(), kls[row]), strict=False):
            assert float(shown[label].replace(",", "")) == pytest.approx(value, rel=0.01), label
        bars = figures(at)["posterior-kl"]["data"][0]["x"]
        np.testing.assert_allclose(bars, np.sort(kls)[::-1][: len(bars)])
    else:
        assert "posterior-kl" not in figures(at)


def test_slider_and_box_stay_in_step() -> None:
    at = open_page(PAGE)
    fine(at.select_slider(key="parameter.epsilon").set_value(10.0).run())
    assert at.text_input(key="box.epsilon").value == "10"
    put(at, "box.epsilon", "0.1")
    assert at.select_slider(key="parameter.epsilon").value == 0.1
    put(at, "box.epsilon", "1000")
    assert at.select_slider(key="parameter.epsilon").value == 1000.0
    assert "ε = 1,000" in headline(at)


def test_prior_and_seed_change_the_picture() -> None:
    at = open_page(PAGE)
    shown = [figures(at)]
    for field, text in (("prior", "50"), ("seed", "2")):
        put(at, f"box.{field}", text)
        shown.append(figures(at))
    assert shown[0] != shown[1] != shown[2]


def test_the_figures_move_with_epsilon_and_their_axes_do_not_lie() -> None:
    at = open_page(PAGE)
    before = figures(at)
    fine(at.select_slider(key="parameter.epsilon").set_value(4.0).run())
    after = figures(at)
    assert set(before) == set(after) >= {"density", "dots", "rows", "kl", "posterior-kl"}
    for key in before:
        moved = "layout" if key.startswith("explore.") else "data"  # of a curve against ε only the line at ε moves
        assert before[key][moved] != after[key][moved], key
    private = [trace for trace in after["density"]["data"] if trace["name"].startswith("private")]
    assert len(private) == 2
    assert all(np.isfinite(trace["y"]).all() for trace in private)


def test_the_mechanism_changes_with_its_controls() -> None:
    at = open_page(PAGE)
    fine(at.pills(key="segments.mechanism").set_value("LaplaceFourier").run())
    assert "Fourier release" in headline(at)
    printed = at.segmented_control(key="parameter.calibration").set_value(Calibration.AS_PRINTED)
    fine(printed.run())
    assert settings_of(at).parameter("calibration") is Calibration.AS_PRINTED
    before = settings_of(at)
    press(at, "Find t")
    assert settings_of(at) != before
    assert not sentences(at)


def test_fourier_on_a_network_that_is_not_binary_is_a_sentence_and_laplace_goes_on() -> None:
    at = open_page(PAGE, source="survey", mechanism="LaplaceFourier")
    one_sentence(at, "binary nodes")
    fine(at.pills(key="segments.mechanism").set_value("LaplaceUpdates").run())
    assert not sentences(at)
    assert "Laplace release" in headline(at)


def test_what_was_worked_out_of_the_same_releases_is_not_worked_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes: list[tuple[int, ...]] = []
    quantile = BetaMixtures.quantile

    def counted(self: BetaMixtures, level: Any) -> Any:
        shapes.append(self.a.shape)
        return quantile(self, level)

    monkeypatch.setattr(BetaMixtures, "quantile", counted)
    drawn: list[int] = []
    simulate = simulations.simulated
    monkeypatch.setattr(simulations, "simulated", lambda *given: drawn.append(1) or simulate(*given))
    simulations.shared_simulations.clear()
    at = open_page(PAGE)
    first, shown = len(shapes), figures(at)
    assert (first > 0, len(drawn)) == (True, 1)
    put(at, "box.epsilon", "x")
    put(at, "box.epsilon", "1")
    assert (len(shapes), len(drawn)) == (first, 1), "neither a refusal nor what follows it changes a release"
    assert figures(at) == shown
    fine(at.selectbox(key="choice.row").set_value("dysp | bronc=no, either=no").run())
    assert (len(shapes) > first, len(drawn)) == (True, 1), "another row of the same releases"
    for place, (box, text) in enumerate((("box.epsilon", "2"), ("box.prior", "2"), ("box.seed", "2"))):
        put(at, box, text)
        assert len(drawn) == place + 2
    settings, kept = settings_of(at), len(drawn)
    assert headline(at) == headline(open_page(PAGE, settings))
    assert len(drawn) == kept, "everybody has these records, and one server works them out for all"
    simulations.shared_simulations.clear()
    assert headline(at) == headline(open_page(PAGE, settings)), "what was kept is what another session works out"
    assert len(drawn) == kept + 1


def test_nothing_of_an_upload_is_kept_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    simulate = simulations.simulated
    monkeypatch.setattr(simulations, "simulated", lambda *given: drawn.append(1) or simulate(*given))
    simulations.shared_simulations.clear()
    for session in (1, 2):
        at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
        data = Dataset(("a", "b"), (("no", "yes"),) * 2, np.array([[0, 1], [1, 1], [0, 0]], dtype=np.uint8))
        graph = code_of(Graph(data.names, (("a", "b"),), {}, dict(zip(data.names, data.states, strict=True))))
        at.session_state["settings"] = Settings(data="upload", graph=graph)
        at.session_state["upload"] = Upload("mine.csv", pd.DataFrame({"a": ["no"], "b": ["yes"]}), data)
        at.switch_page(PAGE)
        fine(at.run())
        assert len(drawn) == session
    assert not simulations.shared_simulations().results


def test_every_row_and_state_can_be_picked() -> None:
    at = open_page(PAGE, source="sprinkler")
    first, *others = at.selectbox(key="choice.row").options
    for row in (*others, first):
        fine(at.selectbox(key="choice.row").set_value(row).run())
        assert settings_of(at).row == row
        assert row.split(" | ")[0] in figures(at)["density"]["layout"]["xaxis"]["title"]["text"]
    state = next(box for box in at.selectbox if box.label == "State")
    before = captions(at)
    fine(state.select_index(1 - state.index).run())
    assert captions(at) != before


def test_a_query_takes_one_state_of_each_node() -> None:
    at = open_page(PAGE, source="sprinkler")
    fine(at.selectbox(key="choice.target").set_value(at.selectbox(key="choice.target").options[-1]).run())
    options = at.multiselect(key="evidence").options
    fine(at.multiselect(key="evidence").set_value(options[:2]).run())
    assert len(settings_of(at).evidence) == 1
    assert at.multiselect(key="evidence").value == [options[1]]
    assert settings_of(at).target == at.selectbox(key="choice.target").value


def test_the_default_question_is_about_a_column_that_is_not_nearly_constant() -> None:
    at = open_page(PAGE)
    network, cpts = load_named("asia")
    data = sample_dataset(network, cpts, 1000, stream(1, "records"))
    assert np.bincount(data.column("asia")).max() > 0.9 * data.n, "the first node would be a trivial question"
    target = at.selectbox(key="choice.target").value
    assert np.bincount(data.column(target)).max() < 0.9 * data.n
    assert at.selectbox(key="board.target").value == target, "accuracy is about the same column"


def test_the_column_that_is_predicted_is_chosen_in_the_pictures_line() -> None:
    at = open_page(PAGE)
    fine(at.selectbox(key="board.target").set_value("bronc").run())
    assert settings_of(at).target == "bronc"
    assert at.selectbox(key="choice.target").value == "bronc"
    assert any("bronc is predicted correctly" in caption for caption in captions(at))


def test_a_private_table_does_not_decide_the_default_question() -> None:
    at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
    codes = np.array([[0] * 50, [k % 2 for k in range(50)]], dtype=np.uint8)
    data = Dataset(("a", "b"), (("no", "yes"),) * 2, codes.T)
    graph = code_of(Graph(data.names, (), {}, dict(zip(data.names, data.states, strict=True))))
    at.session_state["settings"] = Settings(data="upload", graph=graph)
    at.session_state["upload"] = Upload("mine.csv", pd.DataFrame({"a": ["no"], "b": ["yes"]}), data)
    at.session_state["question.open"] = True
    at.switch_page(PAGE)
    fine(at.run())
    assert at.selectbox(key="choice.target").value == "a", "by the graph alone"
    assert at.selectbox(key="board.target").value == "b", "the curator's picture goes by the records"


def test_readers_are_called_as_in_the_pictures_and_links_keep_their_texts() -> None:
    at = open_page(PAGE)
    (readers,) = [group for group in at.get("button_group") if group.key == "parameter.release.reading"]
    assert [option.content for option in readers.proto.options] == ["noise-aware", "naive"]
    fine(at.segmented_control(key="parameter.release.reading").set_value(Reading.AS_REAL).run())
    assert query_of(settings_of(at))["release.reading"] == "takes counts as real"


def test_the_posterior_is_zoomed_by_default_and_can_be_seen_from_0_to_1() -> None:
    at = open_page(PAGE, records="20000")
    low, high = figures(at)["density"]["layout"]["xaxis"]["range"]
    assert high - low < 0.2
    fine(at.toggle(key="toggle.zoom").set_value(False).run())
    assert figures(at)["density"]["layout"]["xaxis"]["range"] == [0, 1]
    assert query_of(settings_of(at))["zoom"] == "False"


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(
    ("page", "label", "following"),
    [("network", "Next: Explore", "Explore"), ("explore", "Next: Which epsilon", "Which epsilon")],
)
def test_the_one_main_button_leads_on(page: str, label: str, following: str) -> None:
    at = open_page(f"pages/{page}.py", source="sprinkler")
    assert [button.label for button in at.button if button.proto.type == "primary"] == [label]
    press(at, label)
    assert at.title[0].value == following


@pytest.mark.usefixtures("first_look")
def test_the_best_noise_of_a_large_network_is_searched_for_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step in each run: the control answers meanwhile, and what is found is kept for every epsilon."""
    one_step_at_a_time()
    with monkeypatch.context() as patch:
        patch.setattr("dpbayes.ui.widgets.page.run_again", lambda: None)
        at = open_page(PAGE, source="insurance", mechanism="GaussianResiduals", seat="recipient")
        assert "is being computed" in headline(at)
        assert not figures(at)
        shares: list[int] = []
        while "is being computed" in headline(at):
            shares.append(at.get("progress")[0].proto.value)
            put(at, "box.epsilon", str(1 + len(shares)))
        assert len(shares) > 2
        assert shares == sorted(shares)
        assert shares[0] < shares[-1]
    assert figures(fine(at.run()))
    assert settings_of(at).parameter("epsilon") == 1 + len(shares)


def test_a_query_about_a_column_with_a_name_of_ours_is_whole() -> None:
    names = ("private", "exact", "state")
    graph = code_of(Graph(names, (), {}, dict.fromkeys(names, ("low", "high"))))
    for target in names:
        at = open_page(PAGE, source=graph, cpts="random", target=target)
        frame = next(f.value for f in at.dataframe if "private" in f.value.columns)
        assert list(frame["state"]) == ["low", "high"]
        assert frame["private"].sum() == pytest.approx(1, abs=1e-3)
        assert frame["exact"].sum() == pytest.approx(1, abs=1e-3)


def test_an_answer_that_the_prior_decides_is_said_to_be_so() -> None:
    warning = "This answer depends mainly on the prior: under a vague prior,"
    assert warning not in everything(open_page(PAGE, target="dysp"))
    for seat in Seat:
        assert warning in everything(open_page(PAGE, target="dysp", epsilon="0.1", seat=seat.value))


@pytest.mark.parametrize(
    ("reading", "name"),
    [(Reading.NOISE_AWARE, "joint noise-aware posterior"), (Reading.AS_REAL, "naive posterior")],
)
def test_the_answer_has_the_intervals_of_the_posterior_that_is_named(reading: Reading, name: str) -> None:
    query = {"target": "dysp", "evidence": "smoke~yes", "seat": "recipient"}
    at = open_page(PAGE, **query, **{"release.reading": reading.value})
    assert any(caption.startswith(f"From the {name}.") for caption in captions(at))
    release = study(settings_of(at)).release.part(0)
    law = posterior_of(release, reading)
    answer = answer_under(law, release.outcome.prior, "dysp", {"smoke": "yes"}, 0.95)
    frame = next(f.value for f in at.dataframe if "private" in f.value.columns)
    np.testing.assert_allclose(frame["private"], answer.mean, rtol=1e-3)
    assert list(frame["its 95% interval"]) == intervals_as_text(answer)
    assert list(frame["prior’s interval"]) == intervals_as_text(answer.prior)
    assert f"(your question) at {numeral(float(answer.mean[0]), 2)}." in headline(at), "the same answer"


def test_a_larger_network_is_answered_row_by_row_first_and_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The joint posterior is computed beside the sessions: this page goes on, and so does another one."""
    may_end = threading.Event()

    def waiting(release: Release[ReleasedPosterior], reading: Reading) -> Any:
        assert release.posterior.network.cell_count <= 7 or may_end.wait(300)
        return posterior_of(release, reading)

    with monkeypatch.context() as patch:
        one_step_at_a_time()
        patch.setattr("dpbayes.ui.widgets.page.run_again", lambda: None)
        patch.setattr("dpbayes.ui.pages.explore.answers.QUICK_CELLS", 7)
        patch.setattr("dpbayes.ui.pages.explore.answers.posterior_of", waiting)
        at = open_page(PAGE, source="sprinkler", seat="recipient")
        follows = "From the row-wise noise-aware posterior; the joint one is being computed …"
        put_until(at, lambda: any(follows in caption for caption in captions(at)))
        frame = next(f.value for f in at.dataframe if "private" in f.value.columns)
        release = study(settings_of(at)).release.part(0)
        target = at.selectbox(key="choice.target").value
        row = release.noise_aware(points=AVERAGED_POINTS).query(target, interval=0.95)
        assert list(frame["its 95% interval"]) == intervals_as_text(row)
        two = code_of(Graph(("a", "b"), (("a", "b"),), {}, dict.fromkeys("ab", ("no", "yes"))))
        other = open_page(PAGE, source=two, cpts="random", seat="recipient")
        assert any("From the joint noise-aware posterior." in caption for caption in captions(other))
        may_end.set()
        put_until(at, lambda: any("From the joint noise-aware posterior." in caption for caption in captions(at)))
        joint = release.joint_noise_aware().query(target, interval=0.95)
        frame = next(f.value for f in at.dataframe if "private" in f.value.columns)
        assert list(frame["its 95% interval"]) == intervals_as_text(joint) != intervals_as_text(row)


def put_until(at: AppTest, is_so: Callable[[], bool]) -> None:
    """Run the page again, as it does by itself, until something is shown."""
    for _ in range(500):
        if is_so():
            return
        fine(at.run())
    raise AssertionError(captions(at))


def test_evidence_that_cannot_happen_is_answered() -> None:
    query = {"target": "tub", "evidence": "either~no~~lung~yes", "prior": str(LEAST_PRIOR), "records": "10000"}
    for seat in Seat:
        at = open_page(PAGE, seat=seat.value, **query)
        assert len(sentences(at)) <= 1
        assert "nan" not in everything(at)


@pytest.mark.parametrize("seat", Seat)
@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "LaplaceFourier"])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_hardly_any_records(n: int, mechanism: str, seat: Seat) -> None:
    at = open_page(PAGE, records=str(n), mechanism=mechanism, seat=seat.value, target="dysp", evidence="smoke~yes")
    assert not sentences(at)
    assert "nan" not in everything(at)


@pytest.mark.parametrize("seat", Seat)
def test_a_column_of_one_state(seat: Seat) -> None:
    graph = code_of(Graph(("a", "b"), (("a", "b"),), {}, {"a": ("x",), "b": ("y", "z")}))
    for row in ("a", "b | a=x"):
        at = open_page(PAGE, source=graph, cpts="random", seat=seat.value, row=row, target="a", evidence="b~y")
        assert not sentences(at)
        assert row.split(" | ")[0] in headline(at)


def test_a_row_and_a_question_of_the_old_table_do_not_break_the_new_one() -> None:
    at = open_page(PAGE, target="dysp", evidence="smoke~yes", row="dysp | bronc=no, either=no")
    at.switch_page("pages/data.py").run()
    fine(at.selectbox(key="choice.source").set_value("survey").run())
    fine(at.switch_page(PAGE).run())
    assert not sentences(at)
    assert "your question" not in headline(at)


def test_claimed_and_certified_are_shown_side_by_side() -> None:
    for query in ({}, {"seat": "recipient"}, {"mechanism": "LaplaceFourier", "calibration": "as printed"}):
        labels = [metric.label for metric in open_page(PAGE, **query).metric]
        assert {"Stated", "Proved"} <= set(labels)


def test_the_comparison_holds_every_mechanism() -> None:
    at = open_page(PAGE)
    unfold(at, "comparison")
    frame = next(f.value for f in at.dataframe if "mechanism" in f.value.columns)
    every = (*PRIVATE, *OF_RECORDS)
    assert list(frame["mechanism"]) == [kind.label for kind in every]
    assert list(frame.columns[2:5]) == ["mean error, all", "prediction KL", "mean error, cell"]
    assert list(frame["posterior KL"].isna()) == [not hasattr(kind, "noise_model") for kind in every]
    assert frame["prediction KL"].notna().all()
    shown = metrics(at)
    assert float(shown[ALIKE[0]]) == pytest.approx(frame["mean error, all"][0], rel=0.01)
    assert float(shown[ALIKE[1]]) == pytest.approx(frame["prediction KL"][0], rel=0.01)


def test_the_mechanisms_of_other_pages_are_named_with_links() -> None:
    for seat in Seat:
        at = open_page(PAGE, seat=seat.value)
        links = [link.proto.label for link in at.get("page_link")]
        assert {"Change", "Network", "Hellinger mechanism", "Regression"} <= set(links)
        assert any(caption.value.startswith("Two other mechanisms have their own pages") for caption in at.caption)


def compared(**query: str) -> tuple[AppTest, pd.DataFrame]:
    """Return the Release page of a die of three sides with its comparison open, and that table."""
    graph = code_of(Graph(("die",), (), {}, {"die": ("a", "b", "c")}))
    at = open_page(PAGE, source=graph, cpts="random", **query)
    unfold(at, "comparison")
    return at, next(f.value for f in at.dataframe if "mechanism" in f.value.columns).set_index("mechanism")


def test_a_die_is_compared_with_the_hellinger_mechanisms_too() -> None:
    at, frame = compared(records="50")
    one_sentence(at, "binary nodes")  # Fourier
    labels = [kind.label for kind in (HellingerGlobal, HellingerSmooth, HellingerLocal)]
    assert list(frame.index[-3:]) == labels
    assert frame["proved"][labels[0]] == "ε = 1"
    assert "δ" in frame["proved"][labels[1]]
    assert frame["proved"][labels[2]] == "no privacy guarantee"
    network = Network.from_edges(["die"], [], {"die": ("a", "b", "c")})
    cpts = random_cpts(network, stream(1, "cpts"))
    counted = count(network, sample_dataset(network, cpts, 50, stream(1, "records"))).values.astype(int)
    mechanism = HellingerGlobal(die=Die((1.0, 1.0, 1.0), 50), epsilon=1.0)
    drawn = mechanism.release(counted, stream(1, "release", "HellingerGlobal"), (200,)).probabilities
    moved = np.abs(drawn - (counted + 1) / 53).mean()
    assert frame["mean error, all"][labels[0]] == pytest.approx(moved)


def test_a_die_with_too_many_posteriors_is_compared_without_them() -> None:
    at, frame = compared(records="10000")
    assert list(frame.index) == [kind.label for kind in (*PRIVATE, *OF_RECORDS) if "Fourier" not in kind.label]
    assert len(sentences(at)) == 2  # both kinds of Fourier need binary nodes, which is said once


@pytest.mark.parametrize("mechanism", ["PosteriorSampler", "MapExponential"])
@pytest.mark.parametrize("records", ["0", "1", "2", "1000"])
def test_a_release_of_draws_is_shown_as_what_it_holds(mechanism: str, records: str) -> None:
    curator = open_page(PAGE, mechanism=mechanism, records=records, epsilon="30")
    shown = figures(curator)["density"]["data"]
    assert [trace["name"] for trace in shown] == [
        "samples of all possible releases",
        "private (this release)",
        "exact (curator view)",
    ]
    assert sum(shown[0]["y"]) == pytest.approx(1)
    recipient = open_page(PAGE, mechanism=mechanism, records=records, epsilon="30", seat="recipient")
    (ticks,) = figures(recipient)["density"]["data"]
    assert ticks["x"] == shown[1]["x"]
    assert "exact" not in everything(recipient).lower().replace("exactly", "")
    assert not sentences(recipient)


def test_every_draw_of_a_release_is_a_tick_within_the_trimmed_region() -> None:
    at = open_page(PAGE, mechanism="PosteriorSampler", draws="7", epsilon="50")
    (ticks,) = (trace for trace in figures(at)["density"]["data"] if trace["name"].startswith("private"))
    assert len(ticks["x"]) == 7
    omega = 1 / (1 + math.exp(50 / (2 * 8 * 7)))
    assert omega <= min(ticks["x"]) <= max(ticks["x"]) <= 1 - omega


def test_the_printed_sampler_below_two_ln_two_is_a_sentence() -> None:
    at = open_page(PAGE, mechanism="PosteriorSampler", calibration="as printed")
    one_sentence(at, "Choose an epsilon above 1.386")


# The recipient's seat

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Everything that the page offers as a file."""
    taken: list[bytes] = []

    def record(_label: str, data: bytes | str | Callable[[], bytes], *_: Any, **__: Any) -> bool:
        content = data() if callable(data) else data
        taken.append(content.encode() if isinstance(content, str) else content)
        return False

    monkeypatch.setattr(streamlit, "download_button", record)
    return taken


def opened(seat: Seat) -> AppTest:
    at = open_page(PAGE, seat=seat.value, target="dysp", evidence="bronc~yes", row="dysp | bronc=yes, either=no")
    for key in ("numbers.density", "numbers.kl-by-row", "comparison"):
        at.session_state[key] = True
    return fine(at.run())


def exact_numbers() -> set[float]:
    """Return what a recipient must not see, to eight digits: counts, means, intervals, divergences, answers."""
    result = study(Settings())
    exact = result.exact
    busy = exact.alpha > 60  # a cell that noise moves off its exact value, whatever is clipped
    low, high = exact.interval(0.95, cells=np.flatnonzero(busy))
    answer = result.query("dysp", {"bronc": "yes"})[0]
    values = [
        exact.mean[busy],
        low,
        high - exact.mean[busy],
        answer,
        result.kl_rows.mean(axis=0),
        result.shifts.mean(axis=0),
    ]
    return {float(f"{value:.8g}") for value in np.concatenate(values) if value not in (0, 1)}


def shown_numbers(text: str) -> set[float]:
    return {float(f"{float(number):.8g}") for number in NUMBER.findall(text)}


def test_the_recipient_sees_and_takes_away_nothing_exact(downloads: list[bytes]) -> None:
    files = "\n".join(content.decode() for content in downloads)
    text = everything(opened(Seat.RECIPIENT)) + files.replace("print-color-adjust: exact", "")
    assert "exact" not in text.lower().replace("exactly", "")
    assert "KL" not in text
    assert "overage" not in text
    assert not exact_numbers() & shown_numbers(text)
    assert len(downloads) >= 2
    kept = study(Settings()).release.outcome.posterior.alpha[0]
    assert set(np.round(kept, 6)) & {round(number, 6) for number in shown_numbers(text)}


def test_the_same_search_finds_what_the_curator_sees(downloads: list[bytes]) -> None:
    text = everything(opened(Seat.CURATOR)) + "\n".join(content.decode() for content in downloads)
    assert "exact (curator view)" in text
    assert len(exact_numbers() & shown_numbers(text)) > 20


def test_the_recipient_has_one_release_read_both_ways() -> None:
    density = figures(open_page(PAGE, seat="recipient"))["density"]["data"]
    assert [trace["name"] for trace in density] == ["private, noise-aware", "private, naive"]


def test_changing_seats_takes_the_exact_curve_away_and_brings_it_back() -> None:
    at = open_page(PAGE)
    before = figures(at)
    fine(at.segmented_control(key="segments.seat").set_value(Seat.RECIPIENT).run())
    assert set(figures(at)) == {"density", "rows"}
    fine(at.segmented_control(key="segments.seat").set_value(Seat.CURATOR).run())
    assert figures(at) == before


ODD = ("<b>x</b>", "$\\frac{1}{2}$", "a|b, c=d", "=1+1", "[l](http://x)", "a\nb\n\n    c", "&amp;", "'\"`", ":red[x]")


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "LaplaceFourier"])
def test_odd_names_are_text_everywhere(mechanism: str, downloads: list[bytes]) -> None:
    graph = code_of(Graph(ODD, ((ODD[0], ODD[5]),), {}, {ODD[5]: ("<i>", "$y$")}))
    at = open_page(PAGE, source=graph, cpts="random", mechanism=mechanism, target=ODD[5], evidence="<b>x</b>~yes")
    at.session_state["numbers.kl-by-row"] = True
    rows = at.selectbox(key="choice.row").options
    for row in rows if mechanism == "LaplaceUpdates" else thorough(rows, sample=[rows[0], rows[-1]]):
        fine(at.selectbox(key="choice.row").set_value(row).run())
        shown = next(m.value for m in at.markdown if m.value.startswith("## "))
        assert "\n" not in shown
        assert "\\<" in shown or "<" not in shown
    assert "<b>" not in repr([figure["layout"] for figure in figures(at).values()])
    assert downloads


@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "LaplaceFourier"])
def test_whole_numbers_are_a_choice_that_the_link_carries_and_the_formula_explains(mechanism: str) -> None:
    at = open_page(PAGE, mechanism=mechanism)
    assert r"\mathbb{Z}" not in everything(at)
    fine(at.segmented_control(key="parameter.noise").set_value(Noise.WHOLE).run())
    assert settings_of(at).parameter("noise") is Noise.WHOLE
    assert r"$\mathrm{Lap}_{\mathbb{Z}}(b)$ is the integer law $P[k] \propto e^{-|k|/b}$" in everything(at)
    assert headline(open_page(PAGE, mechanism=mechanism, noise="whole numbers")) == headline(at)


def test_the_numbers_of_whole_noise_are_the_cores() -> None:
    settings = Settings()
    network, cpts = load_named(settings.source)
    counts = count(network, sample_dataset(network, cpts, settings.records, stream(settings.data_seed, "records")))
    whole = LaplaceUpdates(prior=network, epsilon=1.0, noise=Noise.WHOLE)
    study = study_release(whole, counts, stream(settings.seed, "release", "LaplaceUpdates"), 200)
    assert np.array_equal(study.release.numbers, np.round(study.release.numbers))
    said = f"of {numeral(as_read(study, settings).shifts.mean(), 2)}."
    assert said in headline(open_page(PAGE, noise="whole numbers", prior="capped"))
    assert said not in headline(open_page(PAGE, noise="whole numbers", epsilon="2", prior="capped"))


@pytest.mark.usefixtures("first_look")
def test_a_choice_is_shown_on_the_next_page_at_once() -> None:
    """The control there has the same key and is another one, which shows nothing by itself."""
    at = open_page("pages/explore.py", noise="whole numbers")
    fine(at.switch_page("pages/audit.py").run())
    assert at.segmented_control(key="parameter.noise").value is Noise.WHOLE


@pytest.mark.parametrize("seat", ["curator", "recipient"])
def test_the_handout_is_of_the_question_and_named_by_its_settings(seat: str, files: dict[str, Any]) -> None:
    query = {"source": "asia", "records": "300", "epsilon": "2", "seat": seat}
    open_page("pages/explore.py", target="dysp", evidence="smoke~yes", **query)
    (name,) = [name for name in files if "handout" in name]
    assert name.endswith(".html")
    assert all(part in name for part in ("explore", "epsilon=2", "target=dysp", "records=300"))
    sheet = files[name]
    assert "<h2>One simulated answer: P(shortness of breath | smoking=yes)</h2>" in sheet
    assert "In the table, “shortness of breath” is called dysp, “smoking” is called smoke." in sheet
    assert "ε = 2" in sheet
    assert "with 300 records." in sheet
    files.clear()
    open_page("pages/explore.py", target="lung", **query | {"epsilon": "3"})
    (other,) = [name for name in files if "handout" in name]
    assert other != name
    assert "One simulated answer: P(lung cancer)</h2>" in files[other]


@pytest.mark.parametrize("first", [0.0, 60.0])
def test_the_sentence_and_the_numbers_are_of_the_same_releases(first: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all of them are read in the first moment, after the sentence was written."""
    use_host(replace(host(), first_s=first, share=1.0))
    monkeypatch.setattr(averages, "MOST_CELLS", 60_000)
    at = open_page("pages/explore.py", source="sprinkler", records="50", data_seed="2")
    (difference,) = (float(metric.value) for metric in at.metric if metric.label == "Mean absolute error, all rows")
    assert headline(at).endswith(f"has a mean absolute error of {numeral(difference, 2)}.")
    assert "over 200 releases" in everything(at)


@pytest.mark.usefixtures("many_releases_are_averaged")
def test_a_second_session_is_drawn_once_from_what_the_first_has_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    again: list[None] = []

    def run_again() -> None:
        again.append(None)
        running.run_again()

    monkeypatch.setattr("dpbayes.ui.widgets.page.run_again", run_again)
    use_host(replace(host(), first_s=0.0))
    first = open_page(PAGE)
    assert again, "a moment is not enough for all"
    again.clear()
    second = open_page(PAGE)
    assert not again
    assert sentences(second) == sentences(first)


@pytest.mark.usefixtures("many_releases_are_averaged")
def test_a_page_with_closed_sections_says_the_same_whatever_was_opened_before() -> None:
    """A headline over all releases, which somebody else has looked at, would differ from that of the moving slider."""

    def closed(at: AppTest) -> str:
        for section in averages.AVERAGED:
            at.session_state[section] = False
        return headline(fine(at.run()))

    at = AppTest.from_file(str(APP), default_timeout=NO_LIMIT)
    at.query_params["prior"] = "1"  # under the default prior, the two headlines round to the same number
    at.switch_page(PAGE)
    before = headline(fine(at.run()))
    other = open_page(PAGE, prior="1")
    assert headline(other) != before, "over more releases"
    assert closed(other) == before == closed(at)


def test_a_page_without_its_table_is_a_sentence_and_the_way_to_data() -> None:
    at = open_page(PAGE, data="upload")
    assert sentences(at) == [
        "There is no uploaded table here, and uploads never leave their session. "
        "Load the file on the Data page to see this view."
    ]
    assert [link.proto.page for link in at.get("page_link")] == ["data"]
    assert not at.button, "nothing to save or to present"


def test_no_caption_states_a_value_of_another_epsilon_during_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop_after_a_step()  # the curves have their first epsilon, 0.01, alone
    stated = {epsilon: captions(open_page("pages/explore.py", epsilon=epsilon, seed="77")) for epsilon in ("1", "0.01")}
    assert any("mean KL" in caption for caption in stated["0.01"])
    assert not any("mean KL" in caption or "clipped to 0" in caption for caption in stated["1"])


def test_no_caption_states_a_value_of_another_epsilon_beyond_the_curves() -> None:
    at = open_page("pages/explore.py", epsilon="1000")
    assert not any(text in caption for text in ("mean KL", "clipped to 0", "predicted") for caption in captions(at))
