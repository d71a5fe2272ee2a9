"""The Stealth page: its numbers are the core's, refusals are sentences, and the recipient sees nothing of the data."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, share_text
from dpbayes.experiments.agreement import noticed
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates, Noise
from dpbayes.mechanisms.fourier import increment_for, needed_increments
from dpbayes.mechanisms.stealth import TABLE_WORK, Needed, Sense, UnitNoise, is_table_in_reach, simulate
from dpbayes.model.counts import count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.theory.zhang16.fourier import certified_noise, printed_noise
from dpbayes.theory.zhang16.stealth import (
    certified_increment,
    certified_table_increment,
    negative_marginal_probability,
    negative_table_probability,
)
from dpbayes.ui.pages.stealth.details import records_text
from dpbayes.ui.pages.stealth.page import simulated_share
from dpbayes.ui.session.link import query_of, settings_from
from tests.pages.conftest import (
    charts,
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
    stopped_at_the_second_picture,
)

PAGE = "pages/stealth.py"
CHART = "stealth.probability"
PANELS = {"stealth.agree.Laplace", "stealth.agree.Fourier"}
ASIA, PUBLISHED = load_named("asia")
REAL = "real counts (curator only)"


def mechanism(calibration: Calibration = Calibration.CERTIFIED, epsilon: float = 1.0) -> LaplaceFourier:
    return LaplaceFourier(prior=Dirichlets.symmetric(ASIA), epsilon=epsilon, calibration=calibration)


def wanted_t(probability: float, calibration: Calibration = Calibration.CERTIFIED) -> float:
    """Return the t that the page should find, from the core alone."""
    needed = needed_increments(ASIA, calibration, stream(0, "stealth"))
    return math.ceil(increment_for(probability, needed) * 1e4) / 1e4


def trace(at: AppTest, name: str) -> dict[str, Any]:
    return next(trace for trace in figures(at)[CHART]["data"] if trace["name"] == name)


def names(at: AppTest) -> list[str]:
    return [trace["name"] for trace in figures(at)[CHART]["data"]]


def numbers(at: AppTest) -> dict[str, dict[str, float]]:
    frame = next(f.value for f in at.dataframe if "printed" in f.value.columns)
    return frame.set_index("what is non-negative").to_dict("index")


def test_the_first_picture_is_the_cores() -> None:
    at = open_page(PAGE)
    t = wanted_t(0.9)
    lift = 2 * 21 * 28
    assert headline(at) == (
        f"On Asia, t = {t:.3g} keeps nine of ten releases non-negative; the paper’s formula asks for t = 2.3, "
        f"{math.log(10) / t:.2g} times as many invented records at the same noise ({math.log(10) * lift:,.0f} instead "
        f"of {t * lift:.0f} in every table; {4 * math.log(10) * 21**2:,.0f} at the noise as printed)."
    )
    assert "4,062 at the noise as printed" in headline(at)
    assert set(figures(at)) == {CHART} | PANELS
    noise = UnitNoise.draw(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), draws=10_000)
    for sense in Sense:
        curve, needed = trace(at, sense.value), simulate(sense, noise, mechanism())
        assert curve["y"] == pytest.approx(needed.probability(curve["x"]))
        assert numbers(at)[sense.value]["simulated"] == pytest.approx(float(needed.probability(t)), abs=1e-4)
    printed = trace(at, "the paper’s 1 − exp(−t)")
    assert printed["y"] == pytest.approx(-np.expm1(-np.array(printed["x"])))
    proved = np.array(trace(at, "proved, at least")["y"])
    assert np.all(proved <= np.array(trace(at, Sense.MARGINALS.value)["y"]) + 0.02)
    assert numbers(at)[Sense.MARGINALS.value]["printed"] == pytest.approx(1 - math.exp(-t), abs=1e-4)


def test_the_curve_with_real_counts_is_the_curators_and_correct() -> None:
    at = open_page(PAGE)
    data = sample_dataset(ASIA, PUBLISHED, 1000, stream(1, "records"))
    noise = UnitNoise.draw(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), draws=10_000)
    needed = simulate(Sense.MARGINALS, noise, mechanism(), count(ASIA, data).values)
    real = trace(at, REAL)
    assert real["y"] == pytest.approx(needed.probability(real["x"]))
    assert "Curator only: not private." in everything(at)


def shown(at: AppTest) -> str:
    """Return all of the page but the link, which names the table."""
    return "\n".join(line for line in everything(at).split("\n") if "seat=recipient" not in line)


def test_the_recipient_sees_what_is_public_and_the_same_for_every_table() -> None:
    query = {"seat": "recipient"}
    ones = open_page(PAGE, **query)
    others = open_page(PAGE, **query, data_seed="7", cpts="random")
    assert shown(ones) == shown(others)
    assert REAL not in names(ones)
    assert "urator only" not in everything(ones)
    assert headline(ones) == headline(open_page(PAGE))
    assert trace(open_page(PAGE), REAL)["y"] != trace(open_page(PAGE, data_seed="7", cpts="random"), REAL)["y"]


@pytest.mark.parametrize("calibration", Calibration)
def test_the_t_found_is_that_of_the_release_page(calibration: Calibration) -> None:
    at = open_page(PAGE, calibration=calibration.value)
    label = f"Use t = {wanted_t(0.9, calibration):.4g} on the Explore page"
    press(at, label)
    assert settings_of(at).parameter("t") == wanted_t(0.9, calibration)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"stealth.target": "0.99"}, "keeps 99% of releases non-negative; the paper’s formula asks for t = 4.6"),
        ({"stealth.sense": "all released parameters"}, "keeps every parameter positive in nine of ten releases"),
        (
            {"stealth.sense": "all cells of the whole table"},
            "the whole table, with all counts zero, non-negative in nine of ten",
        ),
        ({"stealth.aim": "by t", "stealth.t": "0.5"}, "t = 0.5 keeps 99.990 ± 0.014% of simulated releases"),
        ({"stealth.aim": "by t", "stealth.t": "5"}, "t = 5 keeps all 10,000 simulated releases non-negative"),
        ({"stealth.aim": "by t", "stealth.t": "0"}, "t = 0 keeps none of 10,000 simulated releases non-negative"),
        ({"stealth.aim": "by t", "stealth.t": "0.5"}, "It invents 588 records in every table."),
        ({"stealth.aim": "by t", "stealth.t": "0.05"}, "promises 4.88%, which is too much. It invents 58.8 records"),
        ({"source": "bayes:16", "cpts": "random", "calibration": "as printed"}, "On this network, t = 0.129"),
        (
            {"calibration": "as printed", "epsilon": "2"},
            f"invented records ({2 * math.log(10) * 21**2:,.0f} instead of",
        ),
    ],
)
def test_every_setting_reaches_the_headline_and_the_link(query: dict[str, str], part: str) -> None:
    settings, problems = settings_from(query)
    assert not problems
    assert settings_from(query_of(settings))[0] == settings
    assert part in headline(open_page(PAGE, **query))


def test_a_slider_of_t_moves_the_mark_and_no_curve() -> None:
    at = open_page(PAGE, **{"stealth.aim": "by t"})
    before = figures(at)[CHART]
    fine(at.select_slider(key="parameter.stealth.t").set_value(0.4).run())
    after = figures(at)[CHART]
    assert [t["y"] for t in before["data"][:-1]] == [t["y"] for t in after["data"][:-1]]
    assert before["layout"] == after["layout"]
    assert after["data"][-1]["x"] == [0.4, 0.4]
    assert "t = 0.4 keeps" in headline(at)


def test_epsilon_moves_the_records_and_not_the_noise_alone() -> None:
    at = open_page(PAGE)
    before, curve = figures(at)[CHART]["layout"]["xaxis"], trace(at, Sense.MARGINALS.value)["y"]
    fine(at.select_slider(key="parameter.epsilon").set_value(10.0).run())
    assert figures(at)[CHART]["layout"]["xaxis"]["ticktext"] != before["ticktext"]
    assert trace(at, Sense.MARGINALS.value)["y"] == curve


def test_two_tables_disagree_under_laplace_and_agree_under_fourier() -> None:
    at = open_page(PAGE)
    for node in ("asia", "bronc"):
        fine(at.selectbox(key="stealth.shared").set_value(node).run())
        laplace, fourier = (np.array(list(_dots(at, label))) for label in ("Laplace", "Fourier"))
        assert np.abs(fourier[0] - fourier[1]).max() < 1e-6
        assert np.abs(laplace[0] - laplace[1]).mean() > 5
    assert "**Fourier**: the two always agree." in everything(at)


def _dots(at: AppTest, label: str) -> tuple[list[float], list[float]]:
    dots = figures(at)[f"stealth.agree.{label}"]["data"][1]
    return dots["x"], dots["y"]


@pytest.mark.parametrize("seat", ["curator", "recipient"])
def test_a_network_that_is_not_binary_is_one_sentence_that_names_the_node(seat: str) -> None:
    at = open_page(PAGE, source="survey", seat=seat)
    one_sentence(at, "needs binary nodes")
    assert not figures(at)


@pytest.mark.parametrize(
    "query",
    [
        {"records": "0"},
        {"stealth.aim": "by t", "stealth.t": "0"},
        {"stealth.aim": "by t", "stealth.t": "50"},
        {"stealth.target": "0.5"},
        {"source": "empty:1", "cpts": "random"},
        {"source": "empty:5", "cpts": "random", "calibration": "as printed"},
        {"source": "full:6", "cpts": "random", "epsilon": "0.001"},
        {"epsilon": "1000", "prior": "1000", "stealth.sense": "all released parameters"},
    ],
)
def test_the_edges_have_pictures_without_gaps(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert not sentences(at)
    assert CHART in figures(at)
    assert "nan" not in everything(at).replace("dominan", "")
    assert "inf" not in headline(at)
    assert (set(figures(at)) >= PANELS) is not query.get("source", "").startswith("empty")


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize("sense", Sense)
def test_a_probability_beyond_the_draws_has_a_proved_increment(sense: Sense, calibration: Calibration) -> None:
    target = 0.9999999
    at = open_page(
        PAGE, **{"stealth.target": str(target), "stealth.sense": sense.value, "calibration": calibration.value}
    )
    noise = certified_noise(ASIA) if calibration is Calibration.CERTIFIED else printed_noise(ASIA)
    find = certified_table_increment if sense is Sense.TABLE else certified_increment
    least, shown_t = find(ASIA, target, noise=noise), float(headline(at).split("t = ")[1].split()[0])
    assert least <= shown_t < 1.01 * least
    bound = negative_table_probability if sense is Sense.TABLE else negative_marginal_probability
    assert bound(ASIA, noise=noise, t=shown_t) <= 1 - target, "the t in the sentence is proved, not only the least"
    assert "is proved to keep" in headline(at)
    assert "99.99999% of" in headline(at) or "in 99.99999% of releases" in headline(at)
    assert "too few for this probability: t is the one proved" in everything(at)
    assert target <= numbers(at)[sense.value]["proved, at least"] < 1, "it is not shown as 1"
    assert not sentences(at)
    assert set(figures(at)) == {CHART} | PANELS


def test_certainty_needs_an_infinite_increment_and_the_page_stays_whole() -> None:
    at = open_page(PAGE, **{"stealth.target": "1"})
    assert "On Asia, no finite t keeps all releases non-negative, for Laplace noise has no bound" in headline(at)
    assert "is proved to keep all but one in 10¹² releases non-negative" in headline(at)
    assert "inf " not in everything(at)
    assert set(figures(at)) == {CHART} | PANELS
    at = open_page(PAGE, **{"stealth.target": "0.9999999999999"})
    assert "all but one in 10¹² releases non-negative; nearer to 1 nothing is proved." in headline(at)
    fine(at.select_slider(key="parameter.stealth.target").set_value(0.95).run())
    assert "keeps 95% of releases" in headline(at)
    assert not sentences(at)


def observed(at: AppTest) -> pd.DataFrame:
    return next(f.value for f in at.dataframe if "what shows" in f.value.columns).set_index("what shows")


def test_what_two_tables_and_an_observer_are_said_to_see_has_standard_errors() -> None:
    at = open_page(PAGE)
    fair = np.full(ASIA.cell_count, 0.5)
    counts = count(ASIA, sample_dataset(ASIA, fair, 1000, stream(1, "stealth", "table")))
    laplace = LaplaceUpdates(prior=Dirichlets.symmetric(ASIA), epsilon=1.0)
    seen = noticed(laplace, counts, stream(1, "stealth", "Laplace"), releases=300)
    column = observed(at)["Laplace"]
    assert column["total of a table, mean (records)"] == str(seen.total)
    assert column["releases with a negative cell (%)"] == str(seen.negative.times(100)) == "0.0 ± 0.3"
    x, y = (np.array(values) for values in _dots(at, "Laplace"))
    gap = np.abs(x - y)
    expected = str(Estimate(gap.mean(), gap.std(ddof=1) / math.sqrt(300)))
    assert " ± " in expected
    assert column["two tables differ about the shared node by (records)"] == expected
    assert f"**Laplace**: the two differ by {expected} records on average." in everything(at)
    assert observed(at)["Fourier"]["total of a table, mean (records)"] == f"{1000 + wanted_t(0.9) * 2 * 21 * 28:,.0f}"


@pytest.mark.parametrize("seat", ["curator", "recipient"])
def test_every_simulated_column_of_the_download_has_its_standard_error(seat: str) -> None:
    at = open_page(PAGE, seat=seat)
    at.session_state["numbers.stealth"] = True
    frame = next(f.value for f in fine(at.run()).dataframe if "invented records" in f.value.columns)
    simulated = [name for name in frame if name.startswith(("simulated", "with the real"))]
    assert len(simulated) == 3 + (seat == "curator")
    for name in simulated:
        near = (frame[name] * 10_000 + 1) / 10_002
        assert np.allclose(frame[f"standard error: {name}"], np.sqrt(near * (1 - near) / 10_000))


@pytest.mark.parametrize(
    ("kept", "text"),
    [(0, "none of 2,000 simulated"), (2000, "all 2,000 simulated"), (1999, "99.95 ± 0.07% of simulated")],
)
def test_all_and_none_of_the_draws_are_said_so(kept: int, text: str) -> None:
    needed = Needed(np.repeat([0.0, 1.0], [kept, 2000 - kept]))
    assert simulated_share(needed.estimate(0.5), 2000) == text


def test_large_numbers_are_whole_and_never_powers_of_ten() -> None:
    at = open_page(PAGE, source="andes", records="1000")
    assert "154 times as many invented records at the same noise (16,067,697 instead of 104,672" in headline(at)
    words = [*(m.value for m in at.markdown), *(c.value for c in at.caption), observed(at).to_csv()]
    words += [chart["alt"] for chart in charts(at)]
    assert not [text for text in words if "e+" in text]
    tiny = open_page(
        PAGE, source="andes", records="1000", epsilon="0.001", **{"stealth.aim": "by t", "stealth.t": "50"}
    )
    assert "e+" not in "".join(m.value for m in tiny.markdown)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.5, "0.5"), (58.83, "58.8"), (1234.5, "1,234"), (104_672.3, "104,672"), (3e12, f"{3 * 10**12:,}")],
)
def test_many_records_are_whole(number: float, text: str) -> None:
    assert records_text(number) == text


def test_one_is_not_many() -> None:
    assert many(1, "coin flip") == "1 coin flip"
    assert many(1000, "coin flip") == "1,000 coin flips"


def test_a_network_too_large_for_its_whole_table_says_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a tenth of the 2,000 draws, and of the work within reach."""
    network, _ = load_named("andes")
    assert not is_table_in_reach(network, draws=2000)
    monkeypatch.setattr("dpbayes.mechanisms.stealth.TABLE_WORK", TABLE_WORK // 10)
    for name in ("MOST_NOISE", "MOST_RELEASED"):
        monkeypatch.setattr(f"dpbayes.ui.pages.stealth.simulations.{name}", 1)
    at = open_page(PAGE, source="andes", records="100")
    assert "only the proved bound is shown" in everything(at)
    assert Sense.TABLE.value not in names(at)
    assert math.isnan(numbers(at)[Sense.TABLE.value]["simulated"])
    assert numbers(at)[Sense.TABLE.value]["proved, at least"] >= 0
    at = open_page(PAGE, source="andes", records="100", **{"stealth.sense": Sense.TABLE.value})
    assert "is proved to keep the whole table, with all counts zero, non-negative in nine of ten releases" in headline(
        at
    )
    at = open_page(
        PAGE,
        source="andes",
        records="100",
        **{"stealth.sense": Sense.TABLE.value, "stealth.aim": "by t", "stealth.t": "1"},
    )
    assert "is proved to keep" in headline(at)


def test_a_bad_number_gives_one_sentence_and_keeps_the_last() -> None:
    at = open_page(PAGE)
    for bad in ("0.4", "nan", "<b>"):
        put(at, "box.stealth.target", bad)
        one_sentence(at, "Kept 0.9.")
        assert "nine of ten" in headline(at)


@pytest.mark.parametrize(
    ("name", "text"), [("sense", "<script>"), ("aim", ""), ("target", "2"), ("t", "-1"), ("t", "nan"), ("t", "1e9")]
)
def test_a_hostile_link_is_ignored_part_by_part(name: str, text: str) -> None:
    settings, problems = settings_from({f"stealth.{name}": text, "epsilon": "2"})
    assert len(problems) == 1
    assert settings == settings_from({"epsilon": "2"})[0]


def test_nodes_that_are_no_columns_leave_the_public_picture() -> None:
    at = open_page(PAGE, graph="sprinkler")
    assert CHART in figures(at)
    assert REAL not in names(at)
    assert "The real counts are not shown" in everything(at)


def test_the_formulas_hold_their_numbers_and_their_assumptions() -> None:
    text = everything(open_page(PAGE))
    for number in ("|N_I| = 21", "O = 14", "= 28$", "proved, without any simulation"):
        assert number in text
    assert "✗ &nbsp;t is large enough" in text
    assert "✓ &nbsp;O is found exactly" in text


def test_the_counterexamples_are_computed_when_they_are_asked_for() -> None:
    at = open_page(PAGE)
    assert "Small t" not in everything(at)
    at.session_state["stealth.fails"] = True
    text = plain(everything(fine(at.run())))
    assert "Printed: at least 0.0952" in text
    assert "-247.3" in text


def test_a_long_simulation_shows_what_is_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 draws in steps of 2,500: those of the noise alone, and those of the real counts."""
    monkeypatch.setattr("dpbayes.ui.pages.stealth.simulations.STEP", 2500 * ASIA.cell_count)
    seen = stopped_at_the_second_picture(monkeypatch)
    at = open_page(PAGE)
    assert [sorted(works)[-2:] for works in seen] == [[1, 1], [2, 2]], "those of the made-up table take one step"
    assert [p.proto.text for p in at.get("progress")] == ["Stopped after 50% of the simulated releases."]
    assert "the noise of 5,000 releases" in everything(at)
    press(at, "Go on")
    assert not [button for button in at.button if button.label in ("Go on", "Stop")]
    assert f"t = {wanted_t(0.9):.3g} keeps nine of ten" in headline(at), "in steps it is the same noise"
    noise = UnitNoise.draw(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), draws=10_000)
    for sense in Sense:
        curve = trace(at, sense.value)
        assert curve["y"] == pytest.approx(simulate(sense, noise, mechanism()).probability(curve["x"]))


def test_few_draws_are_no_reason_to_prove_a_target_while_more_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probability of 0.99 needs some 700 draws; the first steps have 300. Stopped there, it is the proved t."""
    monkeypatch.setattr("dpbayes.ui.pages.stealth.simulations.STEP", 300 * ASIA.cell_count)
    seen = stopped_at_the_second_picture(monkeypatch)
    said: list[str] = []
    monkeypatch.setattr("dpbayes.ui.widgets.page.headline", lambda text: said.append(text))
    at = open_page(PAGE, **{"stealth.target": "0.99"})
    assert len(seen) == 2
    assert len(said) == 1, "no sentence while draws were few and more to come"
    proved = certified_increment(ASIA, 0.99, noise=certified_noise(ASIA))
    assert f"t = {math.ceil(proved * 1000) / 1000:.3g} is proved to keep 99% of releases" in said[0]
    assert "the noise of 600 releases" in everything(at)
    assert "too few for this probability: t is the one proved" in everything(at)
    press(at, "Go on")
    assert not sentences(at)
    assert all("is proved" not in text for text in said[1:])
    assert f"t = {wanted_t(0.99):.3g} keeps 99% of releases" in said[-1]
    assert "too few" not in everything(at)


def test_what_no_number_of_draws_tells_is_proved_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.stealth.simulations.STEP", 2500 * ASIA.cell_count)
    stopped_at_the_second_picture(monkeypatch)
    said: list[str] = []
    monkeypatch.setattr("dpbayes.ui.widgets.page.headline", lambda text: said.append(text))
    press(open_page(PAGE, **{"stealth.target": "0.99999"}), "Go on")
    assert len(said) >= 4
    assert len(set(said)) == 1
    assert "is proved to keep 99.999% of releases" in said[0]


# Whole numbers


@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_whole_numbers_are_simulated_by_their_own_law(epsilon: float) -> None:
    at = open_page(PAGE, noise="whole numbers", epsilon=f"{epsilon:g}")
    whole = replace(mechanism(epsilon=epsilon), noise=Noise.WHOLE)
    noise = UnitNoise.draw(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), draws=10_000, law=whole.noise_law)
    for sense in Sense:
        curve = trace(at, sense.value)
        assert curve["y"] == pytest.approx(simulate(sense, noise, whole).probability(curve["x"]))
    t = math.ceil(simulate(Sense.MARGINALS, noise, whole).increment(0.9) * 1e4) / 1e4
    assert f"On Asia, t = {t:.3g} keeps nine of ten releases non-negative" in headline(at)
    press(at, f"Use t = {t:.4g} on the Explore page")
    assert settings_of(at).parameter("t") == t
    data = sample_dataset(ASIA, PUBLISHED, 1000, stream(1, "records"))
    real = trace(at, REAL)
    assert real["y"] == pytest.approx(
        simulate(Sense.MARGINALS, noise, whole, count(ASIA, data).values).probability(real["x"])
    )
    proved = np.array(trace(at, "proved, at least")["y"])
    bound = replace(certified_noise(ASIA), beyond=1 / whole.noise_scale)
    x = np.array(trace(at, "proved, at least")["x"])
    assert proved == pytest.approx(1 - negative_marginal_probability(ASIA, noise=bound, t=x))
    assert r"\mathrm{Lap}_{\mathbb{Z}}" in everything(at)


def test_the_default_increment_of_whole_numbers_is_that_of_their_law_on_the_release_page_too() -> None:
    at = open_page("pages/explore.py", mechanism="LaplaceFourier", noise="whole numbers", epsilon="20")
    whole = replace(mechanism(epsilon=20.0), noise=Noise.WHOLE)
    needed = needed_increments(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), law=whole.noise_law)
    t = math.ceil(increment_for(0.9, needed) * 1e4) / 1e4
    assert at.text_input(key="box.t").value == f"{t:g}"
    kept = float(np.mean(needed <= t))
    assert f"With no data at all, {share_text(kept)} of releases would be non-negative" in everything(at)
    assert t != wanted_t(0.9)
