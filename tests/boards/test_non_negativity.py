"""The board of non-negativity against t: its shares against releases of the mechanism, and the bound of the proof."""

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.boards.non_negativity import non_negativity
from dpbayes.experiments.non_negativity import NonNegativity
from dpbayes.mechanisms import Calibration
from dpbayes.model.counts import Counts

NETWORK = dp.chain(3)
INPUTS = NonNegativity(NETWORK, Calibration.CERTIFIED)


@pytest.mark.parametrize("t", [0.1, 0.3, 1.0])
def test_the_share_is_that_of_releases_of_zero_counts(t: float) -> None:
    mechanism = dp.LaplaceFourier(prior=NETWORK, epsilon=1.0, t=t)
    zero = Counts(NETWORK, np.zeros(NETWORK.cell_count, dtype=np.int64), 0)
    negative = mechanism.simulate(zero, np.random.default_rng(5), (4000,)).outcome.numbers.min(axis=-1) < 0
    (frame,) = non_negativity(INPUTS).frames_at(str(t))
    numbers, curves = frame.numbers, {trace["name"]: trace["y"] for trace in frame.figures["share"].data}
    assert numbers["simulated"] == pytest.approx(negative.mean(), abs=0.04)
    assert numbers["proved"] >= numbers["simulated"] - 0.02
    assert all(y[0] > y[-1] for y in curves.values()), "a larger t makes negative counts rarer"
    assert curves["as the paper states"][0] == pytest.approx(np.exp(-0.01))


def test_added_records_are_the_lift_of_the_mechanism_and_grow_with_the_stated_noise() -> None:
    as_printed = NonNegativity(NETWORK, Calibration.AS_PRINTED)
    proved, stated = (non_negativity(one).frames_at("0.5")[0].numbers["added"] for one in (INPUTS, as_printed))
    closure = len(NETWORK.closure)
    assert stated == pytest.approx(4 * 0.5 * closure**2)
    assert proved < stated


def test_nodes_of_three_states_are_refused() -> None:
    three = dp.Network(("A",), (("a", "b", "c"),), ((),))
    with pytest.raises(InputError, match="binary"):
        NonNegativity(three, Calibration.CERTIFIED)
