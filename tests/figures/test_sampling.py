import numpy as np

from dpbayes.figures.sampling import SHOWN_DRAWS, shift_figure, trim_figure

THETA = np.linspace(0.01, 0.99, 99)
NAMES = {"allowed": "from here to there", "name": "a"}


def test_without_an_exact_density_nothing_is_called_exact_or_posterior():
    figure = trim_figure((THETA, None, THETA), np.full(2000, 0.5), region=(0.4, 0.6), answer=0.3, **NAMES).to_plotly()
    names = " ".join(trace.name or trace.text[0] for trace in figure.data if trace.name or trace.text)
    assert not any(word in names for word in ("exact", "posterior", "answer"))
    assert len(figure.data[-2].x) == SHOWN_DRAWS
    assert f"first {SHOWN_DRAWS} shown: 0.5" in names


def test_the_interval_has_its_ends_as_a_text_beside_it_or_in_it():
    for low, high, x, side in ((0.4, 0.6, 0.4, "left"), (0.2, 0.3, 0.3, "right"), (0.1, 0.9, 0.1, "right")):
        text = trim_figure((THETA, THETA, THETA), np.ones(1), region=(low, high), answer=0.7, **NAMES).data[1]
        assert (*text["text"], *text["x"], text["textposition"]) == ("allowed: from here to there", x, f"middle {side}")


def test_the_variation_without_privacy_and_the_shift_at_the_chosen_epsilon_have_their_numbers():
    epsilons, shifts = np.array([0.1, 1.0, 8.0, 100.0]), np.array([10.0, 9.0, 1.8, 0])
    figure = shift_figure(epsilons, shifts, here=(1.0, 9.0), variation=2.1, needed=8.0).to_plotly()
    texts = ["variation without privacy: 2.1", "9 points", "ε needed: 8"]
    assert [one.text[0] for one in figure.data if one.text] == texts
    later = shift_figure(epsilons, shifts, here=(10.0, 1.0), variation=2.1, needed=8.0)
    assert [of.data[-1]["textposition"] for of in (figure, later)] == ["middle right", "middle left"]
