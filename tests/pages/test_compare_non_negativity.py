"""Non-negativity on Compare mechanisms and on Explore: numbers are the core's, and the recipient sees no data."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.randomness import stream
from dpbayes.mechanisms import Calibration, LaplaceFourier, Noise
from dpbayes.mechanisms.fourier import increment_for, needed_increments
from dpbayes.mechanisms.stealth import TABLE_WORK, Needed, Sense, UnitNoise, is_table_in_reach, simulate_for_counts
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.zhang16.fourier import certified_noise, printed_noise
from dpbayes.theory.zhang16.stealth import (
    certified_increment,
    certified_table_increment,
    negative_marginal_probability,
    negative_table_probability,
)
from dpbayes.ui.pages.compare.non_negativity import simulated_share
from dpbayes.ui.pages.explore.non_negativity import records_text
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.options.research import BoundClaim
from tests.pages.conftest import (
    charts,
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    open_page,
    press,
    sentences,
    settings_of,
    stopped_at_the_second_picture,
)

PAGE = "pages/compare.py"
VIEW = {"compare.view": "Non-negativity"}
CHART = "compare.non_negativity"
SIMULATED, PROVED, STATED = "simulated, all counts zero", "proved, at least", "as stated"
ASIA, PUBLISHED = load_named("asia")


def opened(**query: str) -> AppTest:
    return open_page(PAGE, **VIEW | query)


def mechanism(calibration: Calibration = Calibration.CERTIFIED, epsilon: float = 1.0) -> LaplaceFourier:
    return LaplaceFourier(prior=Dirichlets.symmetric(ASIA), epsilon=epsilon, calibration=calibration)


def wanted_t(probability: float, calibration: Calibration = Calibration.CERTIFIED) -> float:
    """Return the t that the page should find, from the core alone."""
    needed = needed_increments(ASIA, calibration, stream(0, "stealth"))
    return math.ceil(increment_for(probability, needed) * 1e4) / 1e4


def trace(at: AppTest, name: str, chart: str = CHART) -> dict[str, Any]:
    return next(trace for trace in figures(at)[chart]["data"] if trace["name"] == name)


def numbers(at: AppTest) -> dict[str, dict[str, float]]:
    frame = next(f.value for f in at.dataframe if "stated" in f.value.columns)
    return frame.set_index("non-negative quantity").to_dict("index")


@pytest.mark.parametrize("sense", Sense)
def test_the_first_picture_is_the_cores(sense: Sense) -> None:
    at = opened(**{"stealth.sense": sense.value})
    assert set(figures(at)) == {CHART}
    noise = UnitNoise.draw(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), draws=10_000)
    needed, curve = simulate_for_counts(sense, noise, mechanism()), trace(at, SIMULATED)
    assert curve["y"] == pytest.approx(needed.probability(curve["x"]))
    t = float(headline(at).split("t = ")[1].split(",")[0])
    assert numbers(at)[sense.value]["simulated"] == pytest.approx(float(needed.probability(t)), abs=0.01)
    stated = trace(at, STATED)
    assert stated["y"] == pytest.approx(-np.expm1(-np.array(stated["x"])))
    assert np.all(np.array(trace(at, PROVED)["y"]) <= np.array(curve["y"]) + 0.02)


def test_the_sentence_has_one_finding_and_the_cost_stands_below_it() -> None:
    at, t, lift = opened(), wanted_t(0.9), 2 * 21 * 28
    assert headline(at) == f"With t = {t:.3g}, 90% of Fourier releases have no negative count."
    text = everything(at)
    assert f"The increment t adds {t * lift:.0f} counts to every table." in text
    assert (
        f"The paper’s formula needs t = 2.3, which adds {math.log(10) * lift:,.0f} counts to every table "
        f"({4 * math.log(10) * 21**2:,.0f} with the noise as stated in the paper)."
    ) in text


@pytest.mark.parametrize("calibration", Calibration)
def test_the_t_found_is_taken_to_explore(calibration: Calibration) -> None:
    at = opened(calibration=calibration.value)
    press(at, f"Use t = {wanted_t(0.9, calibration):.4g} on Explore")
    assert settings_of(at).parameter("t") == wanted_t(0.9, calibration)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"stealth.target": "0.99"}, "99% of Fourier releases have no negative count."),
        ({"stealth.sense": "all released parameters"}, "90% of Fourier releases have no negative parameter."),
        ({"stealth.sense": "all cells of the whole table"}, "90% of Fourier releases have no negative cell in the"),
        ({"stealth.aim": "by t", "stealth.t": "0.5"}, "With t = 0.5, 99.990 ± 0.014% of simulated releases have no"),
        ({"stealth.aim": "by t", "stealth.t": "5"}, "With t = 5, all 10,000 simulated releases have no negative count"),
        ({"stealth.aim": "by t", "stealth.t": "0"}, "With t = 0, none of 10,000 simulated releases have no negative"),
        ({"source": "bayes:16", "cpts": "random", "calibration": "as printed"}, "With t = 0.129"),
    ],
)
def test_every_setting_reaches_the_headline_and_the_link(query: dict[str, str], part: str) -> None:
    settings, problems = settings_from(query)
    assert not problems
    assert settings_from(query_of(settings))[0] == settings
    assert part in headline(opened(**query))


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"stealth.aim": "by t", "stealth.t": "0.5"}, "The increment t adds 588 counts to every table."),
        ({"stealth.aim": "by t", "stealth.t": "0.05"}, "the paper states 4.88%, which is false here."),
        (
            {"calibration": "as printed", "epsilon": "2"},
            f"t = 2.3, which adds {2 * math.log(10) * 21**2:,.0f} counts to every table.",
        ),
    ],
)
def test_the_cost_and_what_the_paper_states_stand_below(query: dict[str, str], part: str) -> None:
    assert part in everything(opened(**query))


def test_a_slider_of_t_moves_the_mark_and_no_curve() -> None:
    at = opened(**{"stealth.aim": "by t"})
    before = figures(at)[CHART]
    fine(at.select_slider(key="parameter.stealth.t").set_value(0.4).run())
    after = figures(at)[CHART]
    assert [t["y"] for t in before["data"][:-1]] == [t["y"] for t in after["data"][:-1]]
    assert after["data"][-1]["x"] == [0.4]
    assert "With t = 0.4, " in headline(at)


def test_epsilon_moves_the_counts_and_not_the_noise_alone() -> None:
    at = opened()
    before, curve = figures(at)[CHART]["layout"]["xaxis"], trace(at, SIMULATED)["y"]
    fine(at.select_slider(key="parameter.epsilon").set_value(10.0).run())
    assert figures(at)[CHART]["layout"]["xaxis"]["ticktext"] != before["ticktext"]
    assert trace(at, SIMULATED)["y"] == curve


def test_a_network_that_is_not_binary_is_one_sentence_and_another_view_can_be_chosen() -> None:
    at = opened(source="survey")
    one_sentence(at, "needs binary nodes")
    assert not figures(at)
    assert at.segmented_control(key="parameter.compare.view")


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
        {"graph": "sprinkler"},
    ],
)
def test_the_edges_have_pictures_without_gaps(query: dict[str, str]) -> None:
    at = opened(**query)
    assert not sentences(at)
    assert CHART in figures(at)
    assert "nan" not in everything(at).replace("dominan", "")
    assert "inf" not in headline(at)


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize("sense", Sense)
def test_a_probability_beyond_the_draws_has_a_proved_increment(sense: Sense, calibration: Calibration) -> None:
    target = 0.9999999
    at = opened(**{"stealth.target": str(target), "stealth.sense": sense.value, "calibration": calibration.value})
    noise = certified_noise(ASIA) if calibration is Calibration.CERTIFIED else printed_noise(ASIA)
    find = certified_table_increment if sense is Sense.TABLE else certified_increment
    least, shown_t = find(ASIA, target, noise=noise), float(headline(at).split("t = ")[1].split(",")[0])
    assert least <= shown_t < 1.01 * least
    bound = negative_table_probability if sense is Sense.TABLE else negative_marginal_probability
    assert bound(ASIA, noise=noise, t=shown_t) <= 1 - target, "the t in the sentence is proved, not only the least"
    assert "at least 99.99999% of Fourier releases have no negative" in headline(at)
    assert headline(at).endswith("(proved).")
    assert "too small for this probability, so a formula proves" in everything(at)
    assert target <= numbers(at)[sense.value]["proved, at least"] < 1, "it is not shown as 1"
    assert not sentences(at)


def test_certainty_needs_an_infinite_increment_and_the_page_stays_whole() -> None:
    at = opened(**{"stealth.target": "1"})
    assert (
        headline(at) == "For every finite t, a release can have a negative count, because Laplace noise is unbounded."
    )
    assert "The t shown here is proved for a probability of 1 − 10⁻¹²." in everything(at)
    assert set(figures(at)) == {CHART}
    at = opened(**{"stealth.target": "0.9999999999999"})
    assert "at least 1 − 10⁻¹² of Fourier releases" in headline(at)
    fine(at.select_slider(key="parameter.stealth.target").set_value(0.95).run())
    assert "95% of Fourier releases" in headline(at)
    assert not sentences(at)


def test_every_simulated_column_of_the_download_has_its_standard_error() -> None:
    at = opened()
    at.session_state["numbers.non-negativity"] = True
    frame = next(f.value for f in fine(at.run()).dataframe if "added counts" in f.value.columns)
    simulated = [name for name in frame if name.startswith("simulated")]
    assert len(simulated) == 3
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
    at = opened(source="andes", records="1000")
    assert "The increment t adds 104,672 counts to every table." in everything(at)
    assert "16,067,697 counts" in everything(at)
    words = [*(m.value for m in at.markdown), *(c.value for c in at.caption)]
    words += [chart["alt"] for chart in charts(at)]
    assert not [text for text in words if "e+" in text]


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.5, "0.5"), (58.83, "58.8"), (1234.5, "1,234"), (104_672.3, "104,672"), (3e12, f"{3 * 10**12:,}")],
)
def test_many_records_are_whole(number: float, text: str) -> None:
    assert records_text(number) == text


def test_a_network_too_large_for_its_whole_table_says_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """At a tenth of the 2,000 draws, and of the work within reach."""
    network, _ = load_named("andes")
    assert not is_table_in_reach(network, draws=2000)
    monkeypatch.setattr("dpbayes.mechanisms.stealth.TABLE_WORK", TABLE_WORK // 10)
    monkeypatch.setattr("dpbayes.ui.pages.explore.non_negativity.MOST_NOISE", 1)
    at = opened(source="andes", records="100")
    assert "its proved bound is shown" in everything(at)
    assert math.isnan(numbers(at)[Sense.TABLE.value]["simulated"])
    assert numbers(at)[Sense.TABLE.value]["proved, at least"] >= 0
    table = {"stealth.sense": Sense.TABLE.value}
    for more in ({}, {"stealth.aim": "by t", "stealth.t": "1"}):
        at = opened(source="andes", records="100", **table, **more)
        assert headline(at).endswith("have no negative cell in the whole table (proved).")
        assert SIMULATED not in [trace["name"] for trace in figures(at)[CHART]["data"]]


def test_the_claim_is_opened_at_this_t() -> None:
    at = press(opened(**{"stealth.aim": "by t", "stealth.t": "0.1"}), "Corollary 3: formula and counterexamples")
    assert settings_of(at).parameter("bounds.t") == 0.1
    assert settings_of(at).parameter("proofs.bound") is BoundClaim["COROLLARY_3"]
    assert "Corollary 3" in everything(at)


def test_a_long_simulation_shows_what_is_in_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 draws of the noise in steps of 2,500."""
    monkeypatch.setattr("dpbayes.ui.pages.explore.non_negativity.STEP", 2500 * ASIA.cell_count)
    stopped_at_the_second_picture(monkeypatch)
    at = opened()
    assert [p.proto.text for p in at.get("progress")] == ["Stopped after 50% of the simulated releases."]
    assert "the noise of 5,000 releases" in everything(at)
    press(at, "Continue")
    assert not [button for button in at.button if button.label in ("Continue", "Stop")]
    assert f"With t = {wanted_t(0.9):.3g}, 90%" in headline(at), "in steps it is the same noise"


def test_few_draws_are_no_reason_to_prove_a_target_while_more_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """A probability of 0.99 needs some 700 draws; the first steps have 300. Stopped there, it is the proved t."""
    monkeypatch.setattr("dpbayes.ui.pages.explore.non_negativity.STEP", 300 * ASIA.cell_count)
    stopped_at_the_second_picture(monkeypatch)
    said: list[str] = []
    monkeypatch.setattr("dpbayes.ui.widgets.page.headline", lambda text: said.append(text))
    at = opened(**{"stealth.target": "0.99"})
    assert len(said) == 1, "no sentence while draws were few and more to come"
    proved = certified_increment(ASIA, 0.99, noise=certified_noise(ASIA))
    assert said[0].startswith(f"With t = {math.ceil(proved * 1000) / 1000:.3g}, at least 99% of Fourier releases")
    assert "the noise of 600 releases" in everything(at)
    press(at, "Continue")
    assert not sentences(at)
    assert all("(proved)" not in text for text in said[1:])
    assert said[-1].startswith(f"With t = {wanted_t(0.99):.3g}, 99% of Fourier releases")


@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_whole_numbers_are_simulated_by_their_own_law(epsilon: float) -> None:
    at = opened(noise="whole numbers", epsilon=f"{epsilon:g}")
    whole = replace(mechanism(epsilon=epsilon), noise=Noise.WHOLE)
    noise = UnitNoise.draw(ASIA, Calibration.CERTIFIED, stream(0, "stealth"), draws=10_000, law=whole.noise_law)
    needed, curve = simulate_for_counts(Sense.MARGINALS, noise, whole), trace(at, SIMULATED)
    assert curve["y"] == pytest.approx(needed.probability(curve["x"]))
    t = math.ceil(needed.increment(0.9) * 1e4) / 1e4
    assert f"With t = {t:.3g}, 90% of Fourier releases" in headline(at)
    proved = trace(at, PROVED)
    bound = replace(certified_noise(ASIA), beyond=1 / whole.noise_scale)
    expected = 1 - negative_marginal_probability(ASIA, noise=bound, t=np.array(proved["x"]))
    assert proved["y"] == pytest.approx(expected)


def shown(at: AppTest) -> str:
    """Return all of the page but the link, which names the table."""
    return "\n".join(line for line in everything(at).split("\n") if "seat=recipient" not in line)


def test_the_recipient_sees_no_curve_of_the_records() -> None:
    recipient, other = (
        open_page(PAGE, **VIEW, seat="recipient", **more) for more in ({}, {"data_seed": "7", "cpts": "random"})
    )
    assert figures(recipient)[CHART] == figures(other)[CHART]
    assert "true counts" not in [trace["name"] for trace in figures(recipient)[CHART]["data"]]
    assert shown(recipient) == shown(other)
    assert figures(open_page(PAGE, **VIEW))[CHART] == figures(recipient)[CHART]
