"""What the Accuracy page says: its headline, what is proved, the formulas, the settings beside its numbers."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import METHODS
from dpbayes.experiments.accuracy.study import AccuracyStudy, Measures
from dpbayes.ui.pages.accuracy.headline import comparison_sentence, races, verdict
from dpbayes.ui.session.options.accuracy import Scene
from tests.experiments.crafted import crafted
from tests.pages.conftest import figures, headline, open_page, sentences

PAGE = "pages/accuracy.py"


# The headline


NOT, AHEAD = [-0.1] * 4, [0.1] * 4


@pytest.mark.parametrize(
    ("printed", "certified", "said"),
    [
        ([-0.1, -0.1, 0.1, 0.1], NOT, ("overtakes Laplace between ε = 10 and 100", "never overtakes Laplace up to")),
        ([-0.1, -0.1, 0.1, 0.1], [-0.1, -0.1, -0.1, 0.1], ("between ε = 10 and", "between ε = 100 and 1,000")),
        (AHEAD, NOT, ("is clearly ahead of Laplace from ε = 1", "never overtakes Laplace up to ε = 1,000")),
        ([0, 0.1, 0.1, 0], [0, 0, 0, 0.1], ("ahead of Laplace from ε = 10 to 100", "is clearly ahead of Laplace at")),
        ([0, 0.1, 0, 0.1], [0.1, 0.1, -0.1, 0], ("", "is overtaken by Laplace between ε = 10 and 100")),
        ([-0.1], [0.1], ("is clearly behind Laplace at ε = 1", "is clearly ahead of Laplace at ε = 1")),
        ([0.0], [0.1], ("does not clearly differ from Laplace at ε = 1", "is clearly ahead of Laplace at ε = 1")),
        ([0] * 4, [0] * 4, ("does not clearly differ from Laplace up to ε = 1,000",) * 2),
    ],
)
def test_where_posterior_sampling_overtakes_laplace_is_said(printed, certified, said):
    text = races(crafted(printed, certified))
    paper, proved = text.partition("Posterior sampling, as proved, ")[::2]
    assert paper.startswith("Posterior sampling, as stated in the paper, ")
    assert said[0] in paper
    assert said[1] in proved


def test_what_is_said_on_closeness():
    assert "Laplace is not clearly within 2 points of the exact posterior up to ε = 1,000." in races(crafted(NOT))
    study = crafted(NOT)
    near = Measures(np.tile([0.7, 0.89, 0.9, 0.9], (40, 1)), study.measures[METHODS["laplace"]].log_loss)
    closer = AccuracyStudy(study.plan, {**study.measures, METHODS["laplace"]: near}, {})
    assert "comes within 2 points of the exact posterior between ε = 1 and 10." in races(closer)
    poor = Measures(np.full((40, 1), 0.4), near.log_loss)
    worse = AccuracyStudy(study.plan, {**study.measures, METHODS["exact"]: poor}, {})
    assert "no better than its majority class (40%)." in verdict(worse, 1.0)


def test_the_headline_names_the_best_curve_only_where_it_is_clear():
    def with_proofs(study: AccuracyStudy) -> AccuracyStudy:
        return replace(study, certified=dict.fromkeys(study.plan.private, study.plan.grid))

    study = with_proofs(crafted(NOT, NOT))
    assert "Laplace predicts " in verdict(study, 1.0)
    assert comparison_sentence(study, 1.0).startswith("Laplace is ")
    tie = with_proofs(crafted([0] * 4, [0] * 4))
    assert verdict(tie, 1.0).startswith("At ε = 1, no private curve is clearly best: the highest accuracy for ")
    assert "There is no clear difference from " in comparison_sentence(tie, 1.0)


def test_what_is_said_without_some_of_the_curves():
    study = crafted([-0.1, -0.1, 0.1, 0.1])

    def only(*methods: Method) -> AccuracyStudy:
        plan = replace(study.plan, methods=methods)
        kept = {m: study.measures[m] for m in (METHODS["exact"], METHODS["majority"], *methods)}
        return AccuracyStudy(plan, kept, {})

    assert races(only(METHODS["laplace"], METHODS["sampler"])).startswith("Posterior sampling, as proved, overtakes")
    assert races(only(METHODS["laplace"])).startswith("Laplace")
    assert "sampling (proved, 1 sample) is not clearly within" in races(only(METHODS["sampler"]))


# The page


FAST = {
    "accuracy.scene": Scene.NAIVE_BAYES.value,
    "accuracy.curves": "both",
    "accuracy.features": "2",
    "accuracy.records": "150",
    "accuracy.repeats": "6",
    "accuracy.points": "4",
}
ADULT = {
    "data": "adult",
    "accuracy.scene": Scene.TABLE.value,
    "accuracy.curves": "both",
    "accuracy.repeats": "3",
    "accuracy.points": "3",
    "accuracy.testing": "500",
}


def formulas(at) -> str:
    return next(m.value for m in at.markdown if "\\arg\\max" in m.value)


def promises(at) -> str:
    return next(c.value for c in at.caption if c.value.startswith("The table compares the proved ε"))


def test_binary_formulas_have_the_numbers_of_the_nodes():
    at = open_page(PAGE, **FAST)
    said = formulas(at)
    assert "here with scale $2|I|/\\varepsilon = 6$ counts" in said
    assert "$2|I| = 6$" in said
    assert "\\omega = e^{-\\varepsilon/2}$; a fair coin up to ε = 1.386." in said
    assert "= 2.303$; the release is repeated while a count is negative, at most 101 times" in said
    assert "\\lceil" not in said


def test_formulas_of_many_states_are_those_of_their_decisions():
    """12 columns whose depths 3, 1, 3, 3, 3, 3, 4, 4, 2, 1, 1, 1 sum to 29: 15 occupations take 4 decisions."""
    at = open_page(PAGE, **ADULT)
    said = formulas(at)
    assert "here with scale $2|I|/\\varepsilon = 24$ counts" in said
    assert "= 29$" in said
    assert "2|I| =" not in said
    assert "1/(1 + e^{\\varepsilon/(2 \\cdot 29)})" in said
    assert "w = e^{-\\varepsilon/(2 \\cdot 4)}" in said
    assert "a fair coin up to ε = 5.545" in said
    assert "Up to ε = 5.545 its ω" in promises(at)
    assert "negative" not in promises(at), "there is no Fourier curve of many states"


def test_a_delta_stands_beside_the_epsilon_of_gaussian_curves():
    at = open_page(
        PAGE, **FAST, **{"accuracy.gaussian": "yes", "accuracy.consistent": "yes", "accuracy.weighted": "yes"}
    )
    assert promises(at).count("Gaussian noise has the weaker guarantee (ε, δ) with δ = 0.00001") == 1
    said = formulas(at)
    assert "\\Delta + \\mathcal{N}(0, s^2)$ in every cell" in said
    assert "$t_A + \\mathcal{N}(0, s_A)$ for each of $5$ sets" in said
    assert "over tables of $n$ records that agree" in said
    assert "$s_A + \\mathrm{Lap}(b_A)$ for each of" in said
    at = open_page(PAGE, **FAST, **{"accuracy.residuals": "no"})
    assert "Gaussian" not in promises(at)


def test_what_is_kept_has_its_delta_said():
    said = promises(open_page(PAGE, **FAST))
    assert "101 tries" in said
    exponent = int(re.search(r"10\^\{(-\d+)\}", said).group(1))
    assert exponent < -60
    at = open_page(PAGE, **FAST | {"accuracy.curves": "certified"})
    assert "delta" not in promises(at)
    assert "coin" not in promises(at)


def test_one_epsilon_is_seen():
    at = open_page(PAGE, **FAST | {"accuracy.points": "1"})
    shown = [t for t in figures(at)["accuracy.curves"]["data"] if t.get("showlegend") is not False]
    assert {trace["mode"] for trace in shown} == {"markers"}
    assert not sentences(at)


def test_splits_of_one_table_are_said_to_overlap():
    def lines(at) -> list[str]:
        return [m.value for m in at.markdown if "The repeats are independent" in m.value]

    at = open_page(PAGE, **ADULT)
    assert lines(at)[0].startswith("✗")
    assert any("over overlapping splits" in caption.value for caption in at.caption)
    assert lines(open_page(PAGE, **FAST))[0].startswith("✓")


def test_the_noise_is_said_to_be_of_real_or_of_whole_numbers_where_a_curve_has_any():
    def said(at) -> list[str]:
        return [m.value for m in at.markdown if "The noise is integer, as in a real release" in m.value]

    assert said(open_page(PAGE, **FAST))[0].startswith("✗")
    at = open_page(PAGE, **FAST, noise="whole numbers")
    assert said(at)[0].startswith("✓")
    names = {trace["name"] for trace in figures(at)["accuracy.curves"]["data"]}
    assert {"Laplace", "Fourier (proved)"} <= names
    assert "Fourier (paper)" not in names
    assert "is left out because the paper’s plot uses real-valued noise" in promises(at)
    without = {f"accuracy.{name}": "no" for name in ("laplace", "fourier", "residuals")}
    assert not said(open_page(PAGE, **FAST, **without))


def test_the_page_says_no_more_than_the_table_of_crossings():
    at = open_page(PAGE, **FAST | {"accuracy.repeats": "2"})
    assert "no private curve is clearly best" in headline(at), "two repeats show nothing"
