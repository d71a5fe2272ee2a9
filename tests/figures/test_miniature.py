"""The moving picture of Home: well-formed, true at its ends, and moving for a few seconds only."""

import xml.etree.ElementTree as ElementTree

import numpy as np
from scipy import stats

from dpbayes.figures.miniature import FLOOR, LEFT, WIDE, moving_posterior_svg

THETA = np.linspace(0.01, 0.99, 99)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_private_density_runs_through_the_epsilons_and_stays_at_the_last() -> None:
    exact = stats.beta(30, 10).pdf(THETA)
    private = np.array([stats.beta(1.5, 1.5).pdf(THETA), exact])
    picture = ElementTree.fromstring(moving_posterior_svg(THETA, exact, private, [0.1, 10.0], name="P(a)"))
    filled, moving, *_ = picture.findall(f"{SVG}path")
    (animation,) = moving.findall(f"{SVG}animate")
    first, last = animation.get("values", "").split(";")
    assert moving.get("d") == last == filled.get("d"), "at the last epsilon it is the exact one"
    assert first != last
    (circle,) = picture.findall(f"{SVG}circle")
    assert circle.find(f"{SVG}animate").get("values") == f"{LEFT:.1f};{WIDE - LEFT:.1f}"  # type: ignore[union-attr]
    assert {each.get("repeatCount") for each in picture.iter(f"{SVG}animate")} == {"1"}
    shown = [text.text for text in picture.findall(f"{SVG}text") if text.get("opacity") == "1"]
    assert shown == ["ε = 10"]


def test_a_density_stays_within_the_picture() -> None:
    exact = stats.beta(3, 2).pdf(THETA)
    high = stats.beta(3000, 2000).pdf(THETA)
    picture = ElementTree.fromstring(moving_posterior_svg(THETA, exact, np.array([high]), [1.0], name="P(a)"))
    path = picture.findall(f"{SVG}path")[1].get("d", "")
    heights = [float(point.split()[1]) for point in path.removeprefix("M").split("L")]
    assert 0 < min(heights) < max(heights) <= FLOOR
