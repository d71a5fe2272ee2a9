"""The main pictures: the arrays that they are given, what is exact in blue, and nothing exact where none is given."""

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.looks import EXACT, PRIVATE
from dpbayes.figures.posterior import (
    PLACES,
    PRIOR_ALONE,
    Densities,
    density_figure,
    released_draws_figure,
    rows_figure,
)

THETA = np.linspace(0, 1, 201)
DENSITIES = np.stack([stats.beta(a, 10).pdf(THETA) for a in (3, 4, 5)])
EXACT_DENSITY = stats.beta(3.5, 10).pdf(THETA)


def densities(private, exact=None, as_real=None, *, theta=THETA, below=PLACES, prior_below=PLACES**9) -> Densities:
    return Densities(theta, private, below, prior_below, exact, as_real)


def named(figure) -> dict:
    return {trace.name: trace for trace in figure.data}


def exact_of(figure) -> list:
    return [trace for trace in figure.data if "exact" in (trace.name or "")]


def test_this_release_is_bold_the_others_faint_with_gaps_and_the_exact_one_blue():
    figure = density_figure(densities(DENSITIES, EXACT_DENSITY), name="a | <b>").to_plotly()
    others, bold, exact = figure.data
    assert np.array_equal(bold.y, DENSITIES[0])
    assert bold.line.width > others.line.width
    places, heights = (np.array(coordinates).reshape(2, -1) for coordinates in (others.x, others.y))
    assert np.array_equal(places[:, :-1], np.tile(THETA[::2], (2, 1)))
    assert np.array_equal(heights[:, :-1], DENSITIES[1:, ::2])
    assert np.isnan(heights[:, -1]).all(), "the end of one is not joined to the next"
    assert (exact.line.color, bold.line.color) == (EXACT, PRIVATE)
    assert np.array_equal(exact.y, EXACT_DENSITY)
    assert figure.layout.xaxis.title.text == "P(a | &lt;b&gt;)"
    assert tuple(figure.layout.xaxis.range) == (0, 1)


@pytest.mark.parametrize(
    "figure",
    [
        density_figure(densities(DENSITIES), name="a").to_plotly(),
        released_draws_figure(np.array([0.2, 0.4]), np.array([0.1, 0.5]), None, name="a").to_plotly(),
        rows_figure(["a"], (np.array([0.5]), np.array([0.4]), np.array([0.7])), None).to_plotly(),
    ],
)
def test_a_recipients_picture_has_nothing_exact_in_it(figure):
    assert not exact_of(figure)
    assert EXACT not in figure.to_json()


def test_zoom_holds_what_is_seen_of_both_and_little_more():
    low, high = (
        density_figure(densities(DENSITIES[:1], EXACT_DENSITY), name="a", zoom=True).to_plotly().layout.xaxis.range
    )
    seen = THETA[(DENSITIES[0] > 5e-3 * DENSITIES[0].max()) | (5e-3 * EXACT_DENSITY.max() < EXACT_DENSITY)]
    width = seen.max() - seen.min()
    assert low <= seen.min() < low + 0.2 * width
    assert high - 0.2 * width < seen.max() <= high < 1
    assert np.array([low, high]) / 0.02 == pytest.approx(np.round(np.array([low, high]) / 0.02)), "in steps"


@pytest.mark.parametrize(("share", "is_seen"), [(0.002, False), (0.05, True)])
def test_zoom_ends_before_a_rise_at_an_end_that_holds_little(share, is_seen):
    """A parameter below 1 has an infinite density at 1, whatever the data say."""
    theta = np.clip(THETA, 1e-6, 1 - 1e-6)
    mixed = (1 - share) * stats.beta(300, 100).pdf(theta) + share * stats.beta(300, 0.5).pdf(theta)
    high = density_figure(densities(mixed[None], theta=theta), name="a", zoom=True).to_plotly().layout.xaxis.range[1]
    assert (high == 1) == is_seen
    assert is_seen or high < 0.9


def test_a_density_that_is_infinite_at_an_end_does_not_flatten_the_rest():
    spiked = stats.beta(0.5, 3).pdf(THETA)
    assert np.isinf(spiked[0])
    top = density_figure(densities(spiked[None]), name="a").to_plotly().layout.yaxis.range[1]
    assert spiked[4:-4].max() < top < 100


ENDS = np.linspace(1e-6, 1 - 1e-6, 401)
CAPPED = stats.beta(0.5, 0.5)


def noted(figure) -> list[str]:
    return [note.text for note in figure.to_plotly().layout.annotations]


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.9, 1.0])
def test_what_is_at_the_ends_moves_no_frame_and_is_stated_where_it_leaves_the_frame(share):
    """Under the capped prior, a release of a small epsilon rises to infinity at 0 and 1."""
    exact, bump = stats.beta(98, 342), stats.beta(8, 12)
    density, below = (share * f(x) + (1 - share) * g(x) for f, g, x in
                      ((CAPPED.pdf, bump.pdf, ENDS), (CAPPED.cdf, bump.cdf, PLACES)))  # fmt: skip
    curator = densities(density[None], exact.pdf(ENDS), theta=ENDS, below=below)
    figure = density_figure(curator, name="a")
    assert figure.layout["yaxis"]["range"][1] == pytest.approx(1.15 * exact.pdf(ENDS).max(), rel=0.1)
    left = [text for text in noted(figure) if "below" in text]
    assert bool(left) == (density[0] > figure.layout["yaxis"]["range"][1])
    for text in left:
        mass, _, place = text.split()
        assert float(mass.rstrip("%")) / 100 == pytest.approx(below[float(place) == PLACES][0], rel=0.05)
    alone = density_figure(densities(density[None], theta=ENDS, below=below), name="a")
    assert alone.layout["yaxis"]["range"][1] < 8, "a recipient's frame is that of the density between the ends"


@pytest.mark.parametrize(("a", "is_prior"), [(0.5, True), (0.7, True), (3.0, False)])
def test_the_picture_of_a_release_that_is_all_but_the_prior_says_so(a, is_prior):
    release = stats.beta(a, 0.5)
    shown = densities(release.pdf(ENDS)[None], theta=ENDS, below=release.cdf(PLACES), prior_below=CAPPED.cdf(PLACES))
    assert any(PRIOR_ALONE in text for text in noted(density_figure(shown, name="a"))) == is_prior


def test_a_density_of_which_most_is_at_an_end_is_inside_the_frame():
    near_one = stats.beta(300, 1)
    shown = densities(near_one.pdf(ENDS)[None], theta=ENDS, below=near_one.cdf(PLACES))
    assert density_figure(shown, name="a").layout["yaxis"]["range"][1] > near_one.pdf(0.995)


def test_the_draws_of_a_release_are_ticks_beside_the_shares_of_all():
    possible = np.random.default_rng(1).random(1000)
    figure = released_draws_figure(np.array([0.2, 0.4]), possible, (THETA, EXACT_DENSITY), name="a").to_plotly()
    shares, ticks, exact = figure.data
    assert list(ticks.x) == [0.2, 0.4]
    assert sum(shares.y) == pytest.approx(1.0)
    counts, _ = np.histogram(possible, bins=40)
    assert np.array(shares.y) == pytest.approx(counts / 1000)
    assert exact.line.color == EXACT
    assert figure.layout.yaxis2.side == "right"


def test_rows_have_means_and_both_ends_of_their_intervals():
    mean, low, high = np.array([0.5, 0.2]), np.array([0.4, 0.1]), np.array([0.7, 0.25])
    figure = rows_figure(["a", "b"], (mean, low, high), (mean / 2, low / 2, high / 2)).to_plotly()
    exact, private = figure.data
    assert private.x == pytest.approx(mean)
    assert private.error_x.array == pytest.approx(high - mean)
    assert private.error_x.arrayminus == pytest.approx(mean - low)
    assert exact.x == pytest.approx(mean / 2)
    assert set(exact.y).isdisjoint(private.y)
    assert list(figure.layout.yaxis.ticktext) == ["a", "b"]
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1], "the first row is on top"


def test_a_density_with_counts_taken_as_real_stands_dashed_beside_and_inside_the_picture() -> None:
    figure = density_figure(densities(DENSITIES[:1], None, DENSITIES[0] * 3), name="a").to_plotly()
    aware, as_real = figure.data
    assert (aware.name, as_real.name) == ("private, noise-aware", "private, naive")
    assert as_real.line.dash == "dash"
    assert figure.layout.yaxis.range[1] > DENSITIES[0].max(), "the noise-aware density decides the frame"


def test_rows_are_drawn_one_beside_the_other() -> None:
    spans = tuple(np.array([value, value]) for value in (0.5, 0.4, 0.7))
    figure = rows_figure(["a", "b"], spans, spans, as_real=spans).to_plotly()
    assert [trace.name.split()[0] for trace in figure.data] == ["exact", "private,", "private,"]
    heights = np.array([trace.y for trace in figure.data])
    assert (np.diff(heights, axis=0) > 0.1).all()
