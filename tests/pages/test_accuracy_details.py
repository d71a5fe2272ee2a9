"""What the Accuracy page says: its headline, what is proved, the formulas, the settings beside its numbers."""

import re

from dpbayes.ui.session.options.accuracy import Scene
from tests.pages.conftest import figures, open_page, sentences

PAGE = "pages/accuracy.py"


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


def test_formulas_are_those_of_the_mechanisms():
    at = open_page(PAGE, **FAST)
    said = formulas(at)
    assert "over the 3 families that contain the target" in said
    assert "here with scale $2|I|/\\varepsilon = 6$ counts" in said
    assert "Up to ε = 1.386 its ω allows only even odds" in promises(at)


def test_a_table_of_many_states_has_no_fourier_curve():
    """Of 12 columns, one has 15 occupations, which take 4 decisions."""
    at = open_page(PAGE, **ADULT)
    assert "here with scale $2|I|/\\varepsilon = 24$ counts" in formulas(at)
    assert "Up to ε = 5.545 its ω" in promises(at)
    assert "negative" not in promises(at)


def test_a_delta_stands_beside_the_epsilon_of_gaussian_curves():
    at = open_page(PAGE, **FAST, **{"accuracy.gaussian": "yes", "accuracy.consistent": "yes"})
    assert promises(at).count("Gaussian noise has the weaker guarantee (ε, δ) with δ = 0.00001") == 1
    said = formulas(at)
    assert "\\Delta + \\mathcal{N}(0, s^2)$ in every cell" in said
    assert "$t_A + \\mathcal{N}(0, s_A)$ for each of $5$ sets" in said
    assert "over tables of $n$ records that agree" in said
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
    without = {f"accuracy.{name}": "no" for name in ("laplace", "fourier", "residuals")}
    assert not said(open_page(PAGE, **FAST, **without))
