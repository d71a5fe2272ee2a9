"""Errors along the number of sides, and the whole Hellinger experiment as a frame."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.experiments.frames import with_settings
from dpbayes.experiments.hellinger.errors import (
    EPSILONS,
    LEVELS,
    DieNoise,
    accuracy_against_sides,
    error_laws,
    most_throws,
    sides_grid,
    throws_grid,
)
from dpbayes.experiments.hellinger.scenario import MOST_SHOWN, Balance, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.hellinger.study import (
    HERE,
    hellinger_study,
    noise_here,
    settings_of,
)

MEDIAN = LEVELS.index(0.5)
ODD = Scenario(
    n=12,
    sides=3,
    balance=Balance.SHARE,
    share=0.6,
    prior=0.3,
    epsilon=1.7,
    delta=1e-3,
    calibration=SmoothRun.AS_PRINTED,
)


def noise(sides: int = 6, draws: int = 500) -> DieNoise:
    return DieNoise.draw(stream(1, "test"), sides=sides, draws=draws)


# Along the number of sides


def test_every_point_along_sides_is_that_die_by_itself():
    study, drawn = accuracy_against_sides(ODD, [2, 3, 5], noise()), noise()
    assert study.along == "m"
    assert study.places.tolist() == [2, 3, 5]
    assert study.methods == tuple(method for method in DieMethod if method is not DieMethod.ENUMERATED)
    for row, m in zip(study.errors, (2, 3, 5), strict=True):
        laws = error_laws([ODD.at(sides=m)], DieNoise(drawn.cells[:, :m]))
        for k, method in enumerate(study.methods):
            if method in laws:
                assert row[k] == pytest.approx(laws[method].quantiles()[0]), (m, method)
            else:
                assert method is DieMethod.ONE
                assert np.isnan(row[k]).all()


def test_a_mechanism_that_no_die_has_is_left_out_and_gaps_are_no_lines_of_the_frame():
    assert DieMethod.ONE not in accuracy_against_sides(ODD, [3, 4], noise()).methods
    frame = accuracy_against_sides(ODD, [2, 3], noise()).frame()
    assert len(frame) == 5 + 4
    assert frame.index.tolist() == list(range(9))
    assert frame[frame["mechanism"] == DieMethod.ONE.value]["m"].tolist() == [2]
    assert frame.notna().all(axis=None)


@given(n=st.integers(1, 100_000))
def test_the_grid_of_sides_holds_every_die_that_fits(n):
    grid = sides_grid(Scenario(n=n))
    fits = [m for m in range(2, 7) if math.comb(n + m - 1, m - 1) <= MOST_SHOWN]
    assert list(grid) == fits
    assert grid[0] == 2
    assert all((n <= most_throws(m)) is (m in grid) for m in range(2, 7))


def test_most_throws_by_hand():
    assert most_throws(3) == 630  # 631 * 632 / 2 = 199,396; 632 * 633 / 2 = 200,028
    assert most_throws(3, most=6) == 2
    assert most_throws(2) == 100_000
    assert throws_grid(Scenario())[-1] == 10_000
    with pytest.raises(InputError, match="Use at most 630 throws"):
        accuracy_against_sides(Scenario(n=631), [2, 3], noise(draws=5))


# The experiment


def test_the_frame_has_a_line_for_every_setting_and_mechanism():
    frame = hellinger_study(ODD, seed=3).frame()
    sizes = frame.groupby("along", sort=False).size().to_dict()
    assert sizes == {HERE: 4, "n": 4 * len(throws_grid(ODD)), "epsilon": 4 * len(EPSILONS), "m": 4 * 5 + 1}
    assert frame[frame["along"] != "n"]["n"].unique().tolist() == [12]
    assert sorted(frame[frame["along"] == "m"]["m"].unique()) == [2, 3, 4, 5, 6]
    assert frame[frame["along"] != "epsilon"]["epsilon"].unique().tolist() == [1.7]
    assert frame["m"].dtype.kind == frame["n"].dtype.kind == "i"
    here = frame[frame["along"] == HERE].set_index("mechanism")["median"]
    laws = error_laws([ODD], noise_here(ODD, seed=3))
    assert here.to_dict() == {method.value: law.quantiles()[0, MEDIAN] for method, law in laws.items()}


def test_every_line_says_what_is_proved_there():
    frame = hellinger_study(ODD, seed=3).frame().set_index(["along", "mechanism"])
    smooth = frame.xs(DieMethod.SMOOTH.value, level=1)
    factor = smooth["proved epsilon"] / smooth["epsilon"]
    assert (factor > 1.5 - 1e-9).all()
    assert factor[smooth["epsilon"] > 0.5].to_numpy() == pytest.approx(1.5)  # below, delta costs a little more
    assert (smooth["proved delta"] == 5e-4).all()
    assert np.isinf(frame.xs(DieMethod.LOCAL.value, level=1)["proved epsilon"]).all()
    cells = frame.xs(DieMethod.CELLS.value, level=1)
    assert (cells["proved epsilon"] == cells["epsilon"]).all()
    assert cells["simulated releases"].unique().tolist() == [10_000, 4_000]
    assert (smooth["simulated releases"] == 0).all()


def test_the_seed_moves_simulated_errors_only():
    one, two = (hellinger_study(ODD, seed=seed).frame() for seed in (3, 4))
    exact = one["simulated releases"] == 0
    levels = [name for name in one if name == "median" or name.endswith("quantile")]
    assert one[exact][levels].equals(two[exact][levels])
    assert not one[~exact]["median"].equals(two[~exact]["median"])
    pd.testing.assert_frame_equal(one, hellinger_study(ODD, seed=3).frame())


def test_settings_stand_beside_a_picture_and_replace_none_of_its_columns():
    frame = with_settings(pd.DataFrame({"n": [1, 2], "x": [0.5, 0.6]}), settings_of(ODD, seed=3))
    assert frame["n"].tolist() == [1, 2]
    line = frame.iloc[0]
    assert (line["m"], line["epsilon"], line["prior"], line["delta"], line["seed"]) == (3, 1.7, 0.3, 1e-3, 3)
    assert (line["balance"], line["share"], line["calibration"]) == ("by share", 0.6, "as printed")


# Settings as text


# The command
