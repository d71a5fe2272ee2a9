"""The Posterior sampling page: its numbers are the core's, and the recipient sees draws and what is public."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.base.text import interval_texts, near_one, share_text
from dpbayes.experiments.sampling import Family, RowState, certified_bound
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.model.counts import count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.dimitrakakis14.families import LEMMA_3, LEMMA_4, LEMMA_5, LEMMA_6
from dpbayes.ui.pages.explore.controls import EXAMPLE
from dpbayes.ui.pages.sampling import page as draws
from dpbayes.ui.pages.sampling.details import constants
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.session.settings import Seat, Settings
from tests.conftest import crossed, thorough
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    unfold,
)

PAGE = "pages/sampling.py"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")


def exact_row(settings: Settings) -> tuple[RowState, PosteriorSampler]:
    """Return the default row's exact posterior and the mechanism, from the core alone."""
    network, cpts = load_named(settings.source)
    data = sample_dataset(network, cpts, settings.records, stream(settings.data_seed, "records"))
    mechanism = PosteriorSampler(prior=settings.prior.on(network), epsilon=settings.parameter("epsilon"))
    cells = network.cells_of_row(network.row_labels().index(EXAMPLE))
    return RowState(mechanism.prior.updated(count(network, data)).alpha[cells], 0), mechanism


def metric(at: AppTest, label: str) -> str:
    return next(m.value for m in at.metric if m.label.startswith(label))


def game_sentence(at: AppTest) -> str:
    return next(m.value for m in at.markdown if m.value.startswith("**After"))


def open_game(**query: str) -> AppTest:
    """Return the page with the game opened by hand."""
    at = open_page(PAGE, **query)
    return unfold(at, "game.open")


def test_the_headline_is_the_cores_number() -> None:
    at = open_page(PAGE)
    row, sampler = exact_row(Settings())
    low, high = interval_texts(*row.region(sampler.log_odds_bound))
    assert headline(at) == (
        f"Every sampled probability lies between {low} and {high}: the samples depend very little on the data."
    )
    assert metric(at, "Exact posterior mean") == near_one(row.mean, 3)
    assert float(metric(at, "Least probability ω")) == pytest.approx(sampler.omega, rel=0.01)


@pytest.mark.parametrize("source", ["asia", "survey"])
def test_the_share_is_of_all_rows_and_the_metric_of_the_one_that_was_picked(source: str) -> None:
    at = open_page(PAGE, source=source, epsilon="30")
    network, cpts = load_named(source)
    data = sample_dataset(network, cpts, 1000, stream(1, "records"))
    mechanism = PosteriorSampler(prior=Dirichlets.symmetric(network, 1.0), epsilon=30.0)
    posterior = mechanism.prior.updated(count(network, data))
    rows = [posterior.alpha[network.cells_of_row(row)] for row in range(network.row_count)]
    masses = [RowState(a, s).exact_mass_within(mechanism.log_odds_bound) for a in rows for s in range(len(a))]
    said = f"on average over all rows, {share_text(float(np.mean(masses)))}."
    assert said in everything(at)
    first = "Every sampled probability lies between " if network.is_binary else "No sampled probability is below "
    assert headline(at).startswith(first)
    row = network.row_labels()[-1]
    picked = open_page(PAGE, source=source, epsilon="30", row=row)
    assert headline(picked) == headline(at)
    state = RowState(posterior.alpha[network.cells_of_row(network.row_count - 1)], 0)
    inside = share_text(state.exact_mass_within(mechanism.log_odds_bound))
    assert f"Of this row's exact posterior, {inside} lies in the allowed region" in everything(picked)


def test_a_row_that_is_deterministic_is_said_to_lie_outside_every_region() -> None:
    at = open_page(PAGE, row="either | tub=no, lung=no", state="no")
    said = [caption.value for caption in at.caption if "deterministic" in caption.value]
    assert len(said) == 1
    assert "no probability above 0.516 is sampled" in said[0]
    assert not any("deterministic" in caption.value for caption in open_page(PAGE).caption)
    recipient = open_page(PAGE, row="either | tub=no, lung=no", state="no", seat="recipient")
    assert not any("deterministic" in caption.value for caption in recipient.caption)


def test_the_data_show_as_epsilon_grows() -> None:
    at = open_page(PAGE, epsilon="500")
    row, sampler = exact_row(Settings(parameters=(("epsilon", 500.0),)))
    assert headline(at).endswith("the samples depend strongly on the data.")
    trim = figures(at)["trim"]["data"]
    drawn = next(trace["x"] for trace in trim if "released" in trace["name"])
    assert abs(drawn[0] - row.mean) < 0.2
    assert row.exact_mass_within(sampler.log_odds_bound) > 0.99


def test_draws_are_inside_the_region_and_as_many_as_chosen() -> None:
    at = open_page(PAGE, draws="7", epsilon="20")
    trim = {trace["name"]: trace for trace in figures(at)["trim"]["data"]}
    low, high = trim["allowed region"]["x"][0], trim["allowed region"]["x"][2]
    drawn = trim["released samples"]["x"]
    assert len(drawn) == 7
    assert low <= min(drawn) <= max(drawn) <= high
    put(at, "box.draws", "9")
    assert settings_of(at).parameter("draws") == 9
    assert len(next(t["x"] for t in figures(at)["trim"]["data"] if t["name"] == "released samples")) == 9


def test_the_best_number_of_draws_is_said_and_marked() -> None:
    at = open_page(PAGE, epsilon="100")
    best = next(trace for trace in figures(at)["draws"]["data"] if trace["name"] == "best N")
    curve = next(trace for trace in figures(at)["draws"]["data"] if trace["name"] == "ε = 100")
    assert best["y"][0] == min(curve["y"])
    assert any(f"**{int(best['x'][0])} samples**" in m.value for m in at.markdown)
    measured = next(trace for trace in figures(at)["draws"]["data"] if trace["name"].startswith("simulated"))
    assert abs(measured["y"][0] - curve["y"][0]) < 3 * measured["error_y"]["array"][0]


def test_the_curves_over_draws_are_the_cores_at_the_epsilon_that_is_chosen() -> None:
    at = open_page(PAGE, seat="recipient", epsilon="2")
    row, network = draws.hypothetical(settings_of(at).options("sampling")), load_named("asia")[0]
    for epsilon in (2.0, 3.0, 2.0):
        put(at, "box.epsilon", str(epsilon))
        curve = next(trace for trace in figures(at)["draws"]["data"] if trace["name"] == f"ε = {epsilon:g}")
        errors = row.error_of_mean(certified_bound(network, epsilon=epsilon, draws=draws.NUMBERS), draws.NUMBERS)
        assert curve["y"] == pytest.approx(errors)


def test_the_printed_calibration_claims_less_than_it_gives() -> None:
    at = open_page(PAGE, epsilon="5", calibration="as printed")
    match = re.fullmatch(r"The paper states ε = 5 for this release, but the proved ε is (\d+\.?\d*)\.", headline(at))
    assert match
    assert float(match.group(1)) == pytest.approx(16 * math.log(math.expm1(2.5)), rel=1e-3)
    assert settings_of(at).parameter("calibration") is Calibration.AS_PRINTED


def test_a_printed_omega_that_leaves_nothing_is_one_sentence_per_part() -> None:
    at = open_game(calibration="as printed")
    assert all("above 1.386" in sentence for sentence in sentences(at))
    assert len(sentences(at)) == 2
    assert headline(at) == "The paper's ω leaves no probability to sample at ε = 1."
    fine(at.segmented_control(key="parameter.calibration").set_value(Calibration.CERTIFIED).run())
    assert not sentences(at)
    assert headline(at).endswith("very little on the data.")


def test_the_game_asks_for_the_epsilon_of_one_answer() -> None:
    at = open_game(calibration="as printed", epsilon="3")
    one_sentence(at, "Choose an epsilon of one answer above 1.386")
    assert "at epsilon = 1." in sentences(at)[0]
    assert "no probability to sample" not in headline(at)


def test_a_printed_omega_that_is_violated_everywhere_has_one_name() -> None:
    traces = figures(open_page(PAGE))["omega"]["data"]
    assert [trace["name"] for trace in traces if trace.get("showlegend", True)] == [
        "proved",
        "paper: exp(−ε/2), too small",
        "chosen",
    ]


def test_logarithmic_axes_write_their_numbers_in_full() -> None:
    shown = figures(open_game())
    assert all(shown[key]["layout"]["xaxis"]["dtick"] == 1 for key in ("draws", "omega"))
    axis = shown["needed"]["layout"]["xaxis"]
    assert list(zip(axis["tickvals"], axis["ticktext"], strict=True))[:5] == [
        (1, "1"),
        (2, "2"),
        (5, "5"),
        (10, "10"),
        (20, "20"),
    ]


# The game


def test_the_game_is_closed_until_it_is_opened_or_a_link_or_a_story_leads_to_it() -> None:
    assert "game" not in figures(open_page(PAGE))
    assert "game" in figures(open_page(PAGE, **{"sampling.answers": "20"}))
    at = open_page(PAGE, story="game", step="1")
    assert "game" in figures(at)
    at.session_state["game.open"] = False
    assert "game" not in figures(fine(at.run()))
    at.session_state["settings"] = replace(settings_of(at), step=2)
    assert "needed" in figures(fine(at.run()))


def test_the_games_sentence_has_the_numbers_shown() -> None:
    at = open_game()
    said = game_sentence(at)
    simulated = int(metric(at, "Simulated"))
    assert f"about {simulated}" in said
    assert int(metric(at, "At least")) <= simulated <= int(metric(at, "At most"))
    assert int(metric(at, "Enough (paper)")) < int(metric(at, "At least"))
    assert metric(at, "Games above the bound") == "0%"


@pytest.mark.parametrize("family", Family)
def test_every_family_is_played(family: Family) -> None:
    at = open_game()
    fine(at.selectbox(key="parameter.sampling.family").set_value(family).run())
    assert settings_of(at).options("sampling").family is family
    assert not sentences(at)
    assert "nan" not in everything(at)
    assert ("no limit" in metric(at, "Largest privacy loss of one answer")) == (family is not Family.NETWORK)
    assert {"game", "needed", "robustness"} <= set(figures(at))


def test_the_ticks_of_the_families_are_the_verdicts_of_their_lemmas() -> None:
    """[Dimitrakakis14] Lemma 3, Lemma 4, Lemma 5, Lemma 6."""
    lemmas = {"exponential": LEMMA_3, "Laplace": LEMMA_4, "binomial": LEMMA_5, "normal": LEMMA_6}
    table = constants(Settings().options("sampling"), None)
    ticks = dict(zip(table["family and prior"].str.partition(",")[0], table["verdict"], strict=True))
    for family, lemma in lemmas.items():
        assert ticks[family].startswith("✗" if lemma.verdict is Verdict.FALSE else "✓"), family
        assert (ticks[family] == "✓ as stated") is (lemma.verdict is Verdict.HOLDS), family


def test_what_refutes_theorem_1_ii_is_shown_with_its_numbers() -> None:
    """[Dimitrakakis14] Theorem 1(ii)."""
    text = everything(open_page(PAGE, **{"sampling.family": Family.EXPONENTIAL.value}))
    assert "one of them moved from 0 to 100, give 572.3 nats; the paper states at most 491.1." in text


def test_asking_adds_an_answer_and_keeps_the_earlier_ones() -> None:
    at = open_page(PAGE, **{"sampling.answers": "3"})

    def game() -> list[float]:
        return next(list(t["y"]) for t in figures(at)["game"]["data"] if t["name"] == "this game")

    before = game()
    press(at, "Get one more answer")
    assert settings_of(at).options("sampling").answers == 4
    assert "After 4 answers" in game_sentence(at)
    assert len(game()) == 5
    assert game()[:4] == before


def test_without_trimming_the_ceiling_is_passed_and_red() -> None:
    at = open_page(PAGE, **{"sampling.family": "binomial", "sampling.records": "3", "sampling.answer_epsilon": "0.5"})
    assert float(metric(at, "Games above").removesuffix("%")) > 1


def test_a_printed_answer_is_more_than_is_claimed() -> None:
    at = open_page(
        PAGE, calibration="as printed", epsilon="5", **{"sampling.columns": "8", "sampling.answer_epsilon": "2"}
    )
    assert any("✗ the paper states 2" in caption.value for caption in at.caption)


GAME_EDGES: list[dict[str, str]] = [
    {"sampling.records": "1", "sampling.share": "0"},
    {"sampling.records": "100000", "sampling.share": "1"},
    {"sampling.concentration": "10000", "sampling.family": "binomial"},
    {"sampling.concentration": "0.1", "sampling.share": "0", "sampling.family": "binomial"},
    {"sampling.distance": "10000", "sampling.family": "normal"},
    {"sampling.distance": "10000", "sampling.family": "exponential"},
    {"sampling.distance": "0.01", "sampling.family": "exponential", "sampling.records": "100000"},
    {"sampling.answer_epsilon": "0.01"},
    {"sampling.answer_epsilon": "100", "sampling.answers": "2000", "sampling.columns": "64"},
    {"sampling.columns": "64", "sampling.answer_epsilon": "0.01"},
]

PLAYED = (1, 3, 4, 6, 7)
"""Each family and each kind of setting; the others are turned to their ends on all pages by a test of its own."""


@pytest.mark.parametrize("query", thorough(GAME_EDGES, sample=[GAME_EDGES[place] for place in PLAYED]))
def test_the_edges_of_the_game_are_played(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert not sentences(at)
    assert "nan" not in everything(at)


ROW_EDGES: list[dict[str, str]] = [
    {"epsilon": "0.001", "draws": "10000"},
    {"epsilon": "1000", "records": "100000"},
    {"prior": "1000000000"},
    {"prior": "0.001", "records": "0"},
    {"source": "survey", "cpts": "random", "row": "E | A=young, S=M"},
    {"source": "alarm", "epsilon": "50"},
]


@pytest.mark.parametrize(("query", "seat"), crossed(ROW_EDGES, list(Seat), times=1))
def test_the_edges_of_the_row_are_shown(query: dict[str, str], seat: Seat) -> None:
    at = open_page(PAGE, seat=seat.value, **query)
    assert not sentences(at)
    assert "nan" not in everything(at)


@pytest.mark.parametrize("seat", Seat)
def test_a_column_of_one_state(seat: Seat) -> None:
    graph = code_of(Graph(("a", "b"), (("a", "b"),), {}, {"a": ("x",), "b": ("y", "z", "w")}))
    for row in ("a", "b | a=x"):
        at = open_page(PAGE, source=graph, cpts="random", seat=seat.value, row=row)
        assert not sentences(at)
        assert "nan" not in everything(at)


def test_odd_names_are_text() -> None:
    odd = ("<b>x</b>", "$y$")
    graph = code_of(Graph(odd, ((odd[0], odd[1]),), {}, {odd[1]: ("<i>", "b|c")}))
    at = open_page(PAGE, source=graph, cpts="random", row=f"{odd[1]} | {odd[0]}=no")
    assert "<b>" not in repr([figure["layout"] for figure in figures(at).values()])
    said = next(m.value for m in at.markdown if "has the lowest root mean square error" in m.value)
    assert "\\<" in said


# The recipient's seat


def opened(seat: Seat) -> str:
    at = open_game(seat=seat.value, epsilon="100", draws="2", prior="capped")
    for key in ("trimmed-row", "error-by-samples", "query-game", "robustness"):
        at.session_state[f"numbers.{key}"] = True
    return plain(everything(fine(at.run())))


def shown_numbers(text: str) -> set[float]:
    return {float(f"{float(number):.6g}") for number in NUMBER.findall(text)}


def private_numbers() -> set[float]:
    """What a recipient must not see: exact means, masses, densities, errors."""
    row, _ = exact_row(Settings(parameters=(("epsilon", 100.0),)))
    bound = 100 / 32
    theta = np.linspace(0.6, 0.9, 7)
    values = [row.mean, row.exact_mass_within(bound), *row.trimmed_density(bound, theta)]
    values += list(row.error_of_mean(bound * 2 / np.arange(1, 5), np.arange(1, 5)))
    return {float(f"{value:.6g}") for value in values if value > 1e-3 and abs(value - 1) > 1e-6} | {
        float(near_one(row.mean, 3))
    }


def test_the_recipient_sees_nothing_exact() -> None:
    text = opened(Seat.RECIPIENT)
    assert "exact posterior" not in text.lower()
    assert "curator view" not in text.lower()
    assert not private_numbers() & shown_numbers(text)
    assert "released samples" in text


def test_the_same_search_finds_what_the_curator_sees() -> None:
    text = opened(Seat.CURATOR)
    assert "exact posterior (curator view)" in text
    assert len(private_numbers() & shown_numbers(text)) >= 4


def test_the_game_is_the_same_in_both_seats() -> None:
    curator, recipient = (figures(open_game(seat=seat.value)) for seat in Seat)
    for key in ("game", "needed", "robustness", "omega"):
        assert curator[key] == recipient[key]
    assert curator["trim"] != recipient["trim"]
