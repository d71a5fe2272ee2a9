"""The board of Explore: its numbers, its frame at every epsilon, and what a recipient's board can contain."""

import re
from dataclasses import replace

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.randomness import stream
from dpbayes.base.text import probability_text
from dpbayes.boards.against_epsilon import DELTA, GRID, PROVED, PROVED_SHARE, STATED, STOPS, Pictures
from dpbayes.boards.curator import SHOWN, CuratorInputs, shown_release
from dpbayes.boards.explore import DRAWN, EXAMPLES, RecipientInputs, explore_release, explore_table
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.experiments.answers import FINE, ROUGH, THETA, answers_of, density_of, evened, points_of, smoothed
from dpbayes.figures.answer import CREDIBLE, OTHERS, READER, SIZES
from dpbayes.model.question import Question
from dpbayes.theory.zhang16.fourier import noise_under
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.theory.zhang16.stealth import negative_marginal_probability

NETWORK, CPTS = dp.load_named("asia")
TABLE = dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1))
COUNTS = dp.count(NETWORK, TABLE)
QUESTION = Question(NETWORK, "bronc", "yes", {"smoke": "yes"})
WIDE = Question(NETWORK, "dysp", "yes", {"smoke": "yes"})


def laplace_at(epsilon: float) -> dp.LaplaceUpdates:
    return dp.LaplaceUpdates(prior=NETWORK, epsilon=epsilon)


def fourier_at(epsilon: float) -> dp.LaplaceFourier:
    return dp.LaplaceFourier(prior=NETWORK, epsilon=epsilon, t=0.24)


INPUTS = CuratorInputs(laplace_at, COUNTS, QUESTION)


def layout_of(view, stop: str, key: str = "posterior") -> dict:
    return view.frames_at(stop)[0].figures[key].layout


def test_the_headline_states_the_range_of_answers():
    """Against the limits of 3,000 other releases, which vary by .002; those of the board's 400 vary by .005."""
    frame = explore_table(INPUTS).frames_at("1")[0]
    releases = laplace_at(1).simulate(COUNTS, np.random.default_rng(7), (3000,))
    answers = releases.noise_aware_cells(np.array([QUESTION.cell])).mean[:, 0]
    assert frame.numbers["low"] == pytest.approx(np.quantile(answers, 0.025), abs=0.02)
    assert frame.numbers["high"] == pytest.approx(np.quantile(answers, 0.975), abs=0.02)
    numbers = [float(number) for number in re.findall(r"0\.\d+", frame.headline)]
    stated = [frame.numbers[name] for name in ("exact", "low", "high")]
    assert numbers == pytest.approx(stated, abs=0.005)


def test_a_narrow_answer_is_enlarged_alike_in_both_seats():
    """Of 100,000 records, the curve has its height between two points of the grid over the whole axis."""
    counts = dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 100_000, np.random.default_rng(1)))
    inputs = replace(INPUTS, counts=counts)
    low, high = inputs.span
    assert low < inputs.answer < high < low + 0.05
    public = RecipientInputs(lambda epsilon, _: shown_release(laplace_at(epsilon), counts, 1), QUESTION)
    assert public.span == inputs.span
    density, steps = inputs.exact_density, np.gradient(points_of(inputs.span))
    assert density @ steps == pytest.approx(1, abs=0.02)
    assert np.count_nonzero(density > density.max() / 2) > 10
    frame = explore_table(inputs).frames_at("1")[0]
    released = frame.figures["posterior"].data[1]["y"]
    assert released @ steps == pytest.approx(1, abs=0.02)
    dots = frame.figures["posterior"].data[-2]["x"]
    assert np.abs(dots - inputs.answer).mean() == pytest.approx(frame.numbers["error"], abs=(high - low) / 30)
    axis = layout_of(explore_table(inputs), "0.01")["xaxis"]
    assert axis["range"] == [low, high]
    assert f"enlarged: {low:g} to {high:g}" in axis["title"]["text"]
    assert (low, high) == replace(inputs, mechanism_at=fourier_at).span
    others = INPUTS, replace(inputs, mechanism_at=lambda e: dp.PosteriorSampler(prior=NETWORK, epsilon=e))
    assert [one.span for one in others] == [(0.0, 1.0)] * 2, "where releases with much noise need the whole axis"


def test_answers_outside_of_what_is_shown_are_counted():
    counts = dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 100_000, np.random.default_rng(1)))
    inputs = replace(INPUTS, counts=counts)
    low, high = inputs.span
    frame = explore_table(inputs).frames_at("0.01")[0]
    texts = " ".join(note["text"] for note in frame.figures["posterior"].layout["annotations"])
    others = laplace_at(0.01).simulate(counts, stream(1, "explore", "LaplaceUpdates"), (399,)).part(slice(0, SHOWN - 1))
    with_curve, rest = others.part(slice(0, DRAWN - 1)), others.part(slice(DRAWN - 1, None))
    batches = (inputs.release_at(0.01), 512), (with_curve, 512), (rest, 64)
    cells = np.array([QUESTION.cell])
    releases = np.concatenate([read.noise_aware_cells(cells, points=points).mean[:, 0] for read, points in batches])
    expected = [int(np.sum(releases < low)), int(np.sum(releases > high))]
    assert [int(number) for number in re.findall(r"(\d+) releases?", texts)] == [k for k in expected if k]
    assert sum(expected) > 5


def test_the_frame_of_the_large_picture_does_not_move():
    view = explore_table(INPUTS)
    layouts = [layout_of(view, stop) for stop in ("0.01", "0.1", "1", "100")]
    assert len({tuple(layout["xaxis"]["range"]) for layout in layouts}) == 1
    assert len({tuple(layout["yaxis"]["range"]) for layout in layouts}) == 1


@pytest.mark.parametrize(
    ("stop", "said"), [("0.01", "0.50, as the prior"), ("0.1", "as 0."), ("1", "as 0."), ("100", "exact to 4")]
)
def test_the_picture_says_where_nothing_is_learned(stop: str, said: str):
    frame, is_prior = explore_table(INPUTS).frames_at(stop)[0], "prior" in said
    data, ends = frame.figures["posterior"].data, [frame.numbers["low"], frame.numbers["high"]]
    labels = [trace for trace in data if trace.get("mode") == "text"]
    assert [label["x"] for label in labels] == ([] if is_prior else [ends]), "each number is at its end of the band"
    assert all(text.strip() in frame.headline for label in labels for text in label["text"])
    bands = [trace["x"] for trace in data if trace.get("fill") == "toself"]
    assert [[min(band), max(band)] for band in bands] == ([] if is_prior else [ends])
    assert said in frame.headline


def test_a_range_that_misses_the_tables_answer_is_explained():
    """Of the few records with both, noise pulls the answer from .99 towards the prior."""
    network, cpts = dp.load_named("sprinkler")
    counts = dp.count(network, dp.sample_dataset(network, cpts, 500, np.random.default_rng(1)))
    few = Question(network, "wet", "yes", {"sprinkler": "yes", "rain": "yes"})
    many = Question(network, "sprinkler", "yes", {"cloudy": "no"})
    for question in (few, many):
        at = CuratorInputs(lambda e: dp.LaplaceUpdates(prior=network, epsilon=e), counts, question)
        frame = explore_table(at).frames_at("1")[0]
        is_within = frame.numbers["low"] <= frame.numbers["exact"] <= frame.numbers["high"]
        assert is_within == (question is many)
        assert ("Releases lean low" in frame.captions["posterior"]) != is_within
        assert ("comes out too low, as" in frame.headline) != is_within


def test_draw_another_shows_another_of_the_same_releases():
    frames = explore_table(INPUTS).frames_at("1")
    assert len(frames) == DRAWN
    dots = [frame.figures["posterior"].data[-2]["x"] for frame in frames]
    assert all(np.array_equal(one, dots[0]) and len(one) == SHOWN for one in dots)
    filled = [float(frame.figures["posterior"].data[-1]["x"][0]) for frame in frames]
    assert filled == [float(x) for x in dots[0][:DRAWN]]
    curves = [frame.figures["posterior"].data[1]["y"] for frame in frames]
    assert all(not np.array_equal(curves[0], curve) for curve in curves[1:])


def test_the_noisy_counts_behind_the_answer_stand_beside_those_of_the_table():
    captions = [frame.captions["posterior"] for frame in explore_table(INPUTS).frames_at("1")]
    numbers = shown_release(laplace_at(1), COUNTS, INPUTS.seed).numbers[0]
    noisy = np.round(NETWORK.table(numbers, node=NETWORK.index("bronc"))[0])
    smokers = TABLE.to_frame().query("smoke == 'yes'")
    expected = [noisy[0], noisy.sum(), (smokers["bronc"] == "yes").sum(), len(smokers)]
    assert [int(number) for number in re.findall(r"\d+", captions[0])[:4]] == expected
    assert len(set(captions)) == DRAWN
    assert "counts" not in explore_table(replace(INPUTS, question=WIDE)).frames_at("1")[0].captions["posterior"]


def test_each_dot_is_seen_at_any_epsilon():
    for stop in ("0.01", "0.1", "1", "10", "100"):
        data = explore_table(INPUTS).frames_at(stop)[0].figures["posterior"].data
        (dots,) = (trace for trace in data if trace.get("name") == OTHERS)
        x, y = 540 * dots["x"], 153 * dots["y"]  # pixels on a screen of 1440 by 900
        apart = np.hypot(x[:, None] - x, y[:, None] - y)[~np.eye(len(x), dtype=bool)]
        assert apart.min() > 0.99 * SIZES[-1]


@pytest.mark.parametrize(
    ("mechanism_at", "bounds"),
    [
        (laplace_at, {PROVED.name, STATED.name}),
        (fourier_at, {PROVED.name}),
        (lambda epsilon: dp.GaussianUpdates(prior=NETWORK, epsilon=epsilon, delta=1e-5), set()),
    ],
)
def test_bounds_on_the_divergence_stand_where_there_are_some(mechanism_at, bounds):
    frame = explore_table(replace(INPUTS, mechanism_at=mechanism_at, is_noise_aware=False)).frames_at("1")[0]
    curves = {trace.get("name"): trace["y"] for trace in frame.figures["divergence"].data}
    assert curves.keys() & {PROVED.name, STATED.name} == bounds
    if STATED.name in bounds:
        bound = posterior_kl(laplace_at(1.0).prior, INPUTS.counts, epsilon=np.array(STOPS), delta=DELTA).theorem
        naive = Pictures(replace(INPUTS, is_noise_aware=False)).curves
        drawn = curves[PROVED.name], curves[STATED.name]
        np.testing.assert_allclose(drawn, naive.share_of_records(np.stack([bound.certified, bound.printed])))
        assert drawn[0][0] < 0.01 < 0.7 < drawn[0][-1]
    assert ("No limit is proved" in frame.captions["divergence"]) == (not bounds)


def test_the_divergence_is_that_of_the_chosen_reader():
    """Against that of 20 other releases, read with 1,024 points."""
    aware, naive = (explore_table(replace(INPUTS, is_noise_aware=flag)).frames_at("1")[0] for flag in (True, False))
    release = laplace_at(1).simulate(COUNTS, np.random.default_rng(3), (20,))
    exact = laplace_at(1).prior.updated(COUNTS)
    expected = release.noise_aware(points=1024).divergence_of_rows(exact).sum(axis=-1)
    assert aware.numbers["divergence"] == pytest.approx(expected.mean(), abs=4 * expected.std() / 2)
    of_naive = dp.kl(exact, release.posterior)
    assert naive.numbers["divergence"] == pytest.approx(of_naive.mean(), rel=0.3)
    share = Pictures(INPUTS).aware.share_of_records(aware.numbers["divergence"])
    assert f"As near as {round(1000 * share)} of the 1,000 records" in aware.captions["divergence"]
    assert f"{round(1000 * share)} of 1,000" in str(aware.figures["divergence"].data)
    assert naive.captions["divergence"].startswith("Not as near as 1 of the 1,000 records")


# Counts that are negative


def shares(inputs: CuratorInputs, stop: str = "1") -> dict[str, np.ndarray]:
    data = explore_table(inputs).frames_at(stop)[0].figures["signs"].data
    return {trace["name"]: trace["y"] for trace in data if "name" in trace}


def test_laplace_stands_beside_fourier_which_is_simulated_and_proved():
    curves = shares(replace(INPUTS, fourier_at=fourier_at))
    assert list(curves) == ["Laplace", "Fourier", PROVED_SHARE.name]
    assert (curves[PROVED_SHARE.name] >= curves["Fourier"] - 0.07).all()
    assert (curves["Laplace"] > 0.9).all()
    release = fourier_at(1).simulate(COUNTS, np.random.default_rng(4), (2000,))
    expected = np.mean(np.any(release.outcome.updates < 0, axis=-1))
    assert curves["Fourier"][len(GRID) // 4] == pytest.approx(expected, abs=0.08)


def test_the_caption_states_shares_with_a_negative_count():
    frame = explore_table(replace(INPUTS, fourier_at=fourier_at)).frames_at("1")[0]
    noise = noise_under(NETWORK, fourier_at(1).calibration)
    proved = float(negative_marginal_probability(NETWORK, noise=noise, t=fourier_at(1).t))
    fourier, bound = map(float, re.findall(r"([\d.]+)%", frame.captions["signs"]))
    assert bound == pytest.approx(100 * proved, abs=0.05)
    assert fourier < bound
    assert ("all Laplace" in frame.captions["signs"]) == (frame.numbers["signs"] == 1)


# A question that is no cell


def test_a_question_is_answered_from_all_rows_together():
    """Against the joint posterior's own answer with its interval, which has other samples."""
    release = laplace_at(1).simulate(COUNTS, np.random.default_rng(1), (3,))
    read = answers_of(release.part(slice(0, 2)), WIDE, is_noise_aware=True)
    expected = release.part(slice(0, 1)).joint_noise_aware().query("dysp", {"smoke": "yes"}, interval=0.95)
    state = NETWORK.states[NETWORK.index("dysp")].index("yes")
    assert read.means[0] == pytest.approx(expected.mean[0, state], abs=0.01)
    assert read.interval == pytest.approx((expected.low[0, state], expected.high[0, state]), abs=0.03)
    assert read.densities.shape == (2, len(THETA))
    steps = np.gradient(THETA)
    assert read.densities @ steps == pytest.approx([1, 1], abs=0.02)
    assert read.densities @ (THETA * steps) == pytest.approx(read.means[:2], abs=0.01)


def test_the_density_of_samples_is_that_of_their_law():
    posterior = laplace_at(1).prior.updated(COUNTS)
    exact = density_of(posterior, QUESTION)
    samples = QUESTION.answers(posterior.sample(np.random.default_rng(2), 20_000))
    assert np.abs(smoothed(samples) - exact) @ np.gradient(THETA) < 0.12


def test_waves_of_a_wide_density_are_evened_and_a_narrow_one_stays():
    waves = np.cos(2 * np.pi * THETA / 0.06)
    narrow = np.exp(-(((THETA - 0.6) / 0.02) ** 2) / 2) / (0.02 * np.sqrt(2 * np.pi))
    wide, same, none = evened(np.stack([1 + 0.3 * waves, narrow, np.zeros(len(THETA))]))
    assert np.abs(wide - 1).max() < 0.1
    assert wide @ np.gradient(THETA) == pytest.approx(1, abs=0.02)
    assert same == pytest.approx(narrow, rel=0.05, abs=0.05)
    assert (none == 0).all()


def test_a_density_near_an_end_stays_within():
    at_zero = smoothed(np.abs(np.random.default_rng(1).normal(scale=0.05, size=5000)))
    assert at_zero @ np.gradient(THETA) == pytest.approx(1, abs=0.02)
    assert at_zero[0] > at_zero[10]
    assert THETA[0] < 0.001, "a curve reaches the end of the axis"


@pytest.mark.parametrize(("number", "text"), [(0.6, "0.60"), (0.056, "0.06"), (0.004, "0.004"), (0.9991, "0.9991")])
def test_probabilities_have_two_decimals(number: float, text: str):
    assert probability_text(number) == text


def test_a_column_with_one_state_has_no_picture_of_predictions():
    network = dp.Network.from_edges(["a", "b"], [("a", "b")], {"a": ["only"], "b": ["no", "yes"]})
    table = dp.sample_dataset(network, np.array([1.0, 0.5, 0.5]), 50, np.random.default_rng(1))
    counts = dp.count(network, table)
    at = lambda epsilon: dp.LaplaceUpdates(prior=network, epsilon=epsilon)  # noqa: E731
    pictures = Pictures(CuratorInputs(at, counts, Question(network, "a", "only"), table=table))
    assert pictures.accuracy is None


def test_accuracy_is_shown_where_there_are_records_as_on_lab_at_powers_of_ten():
    view = explore_table(replace(INPUTS, table=TABLE, question=Question(NETWORK, "asia", "yes")))
    assert [panel.key for panel in view.board.panels] == ["posterior", "divergence", "signs", "accuracy"]
    assert view.frames_at("1")[0].captions["accuracy"].startswith("Even without noise"), "asia = no for 99%"
    assert "accuracy" not in explore_table(INPUTS).frames_at("1")[0].figures
    pictures = Pictures(replace(INPUTS, mechanism_at=fourier_at, table=TABLE))
    lab = accuracy_study(replace(pictures.accuracy.plan, epsilons=STOPS))
    for epsilon in (0.1, 1, 10):
        assert pictures.at(epsilon)[2]["accuracy"] == lab.mean(lab.plan.private[0])[STOPS.index(epsilon)]


def test_names_are_text_in_the_picture():
    network = dp.Network.from_edges(["<b>rain</b>"], [])
    counts = dp.Counts(network, np.array([70, 30]), 100)
    question = Question(network, "<b>rain</b>", "yes")
    view = explore_table(CuratorInputs(lambda e: dp.LaplaceUpdates(prior=network, epsilon=e), counts, question))
    assert layout_of(view, "1")["xaxis"]["title"]["text"].startswith("probability of &lt;b&gt;rain&lt;/b&gt; = yes")
    assert view.board.title == "How likely is <b>rain</b> = yes?"


def test_the_board_has_a_frame_for_every_stop():
    board = explore_table(replace(INPUTS, table=TABLE, fourier_at=fourier_at)).complete()
    assert sorted(map(float, board.frames)) == sorted(STOPS)
    assert len(board.block()) < 800_000


# The recipient's seat


def test_a_recipients_board_follows_from_releases_alone():
    """Two tables with the same releases have the same board, byte by byte."""
    other = dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(2))
    releases = {
        epsilon: laplace_at(epsilon).simulate(COUNTS, np.random.default_rng(1), (1,)) for epsilon in (ROUGH, 1.0, FINE)
    }
    assert dp.count(NETWORK, other).digest != COUNTS.digest

    def board_of(table):
        counts = dp.count(NETWORK, table)
        assert counts.n == 1000
        view = explore_release(RecipientInputs(lambda epsilon, _: releases[epsilon], QUESTION))
        return view.with_frames({stop: view.frames_at(stop) for stop in ("0.1", "1", "10")})

    assert board_of(TABLE).to_html() == board_of(other).to_html()


@pytest.mark.parametrize("question", [QUESTION, WIDE])
@pytest.mark.parametrize("is_noise_aware", [True, False])
def test_the_curator_first_sees_the_release_of_the_recipient(question: Question, is_noise_aware: bool):
    inputs = replace(INPUTS, mechanism_at=fourier_at, question=question, is_noise_aware=is_noise_aware)
    public = RecipientInputs(
        lambda epsilon, number: shown_release(fourier_at(epsilon), COUNTS, INPUTS.seed + number),
        question,
        is_noise_aware=is_noise_aware,
        colour=dp.LaplaceFourier.colour,
    )
    curator, recipient = explore_table(inputs).frames_at("1")[0], explore_release(public).frames_at("1")[0]
    assert recipient.numbers["released"] == pytest.approx(curator.numbers["released"], rel=1e-9)
    seen, released = (
        next(trace for trace in frame.figures["posterior"].data if trace.get("name") == READER)
        for frame in (recipient, curator)
    )
    assert seen["line"] == released["line"]
    inside = (seen["y"] < 4) & (released["y"] < 4)  # where neither is cut off by its frame
    assert inside.any()
    assert seen["y"][inside] == pytest.approx(released["y"][inside])


def test_each_frame_of_a_recipients_board_has_one_release_and_nothing_exact():
    view = explore_release(RecipientInputs(lambda epsilon, k: shown_release(laplace_at(epsilon), COUNTS, k), QUESTION))
    frame, *others = view.frames_at("1")
    assert len({one.headline for one in (frame, *others)}) == EXAMPLES, "another release has another answer"
    assert list(frame.figures) == ["posterior"]
    _, band, _, dot = frame.figures["posterior"].data
    assert [band["name"], dot["name"]] == [CREDIBLE, READER]
    assert len(dot["x"]) == 1
    assert (min(band["x"]), max(band["x"])) == (frame.numbers["low"], frame.numbers["high"])
    assert not view.board.private
