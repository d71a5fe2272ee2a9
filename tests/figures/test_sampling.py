import numpy as np

from dpbayes.figures.sampling import SHOWN_DRAWS, missed_figure, trim_figure

THETA = np.linspace(0.01, 0.99, 99)


def test_without_an_exact_density_nothing_is_called_exact_or_posterior():
    figure = trim_figure((THETA, None, THETA), np.full(2000, 0.5), region=(0.4, 0.6), answer=0.3, name="a").to_plotly()
    names = " ".join(trace.name or trace.text[0] for trace in figure.data if trace.name or trace.text)
    assert "exact" not in names
    assert "posterior" not in names
    assert "answer" not in names
    assert len(figure.data[-2].x) == SHOWN_DRAWS
    assert f"first {SHOWN_DRAWS} shown: 0.5" in names


def test_the_distance_without_privacy_and_that_of_the_chosen_epsilon_have_their_numbers():
    epsilons, distances = np.array([0.1, 1.0, 8.0, 100.0]), np.array([10.0, 9.0, 1.8, 2.1])
    figure = missed_figure(epsilons, distances, here=(1.0, 9.0), exact=2.1, needed=8.0).to_plotly()
    assert [one.text[0] for one in figure.data if one.text] == ["without privacy: 2.1", "9 points", "needed: 8"]
    later = missed_figure(epsilons, distances, here=(10.0, 2.0), exact=2.1, needed=8.0)
    assert [of.data[-1]["textposition"] for of in (figure, later)] == ["middle right", "middle left"]
