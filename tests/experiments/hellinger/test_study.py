"""Errors along the number of sides, and the whole Hellinger experiment as a frame, a file and a command."""

import io
import json
import math
import shlex

import numpy as np
import pandas as pd
import pyarrow.parquet as arrow_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.parameters import parameter_texts
from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.experiments.__main__ import main
from dpbayes.experiments.commands.files import parquet_bytes
from dpbayes.experiments.commands.hellinger import command_of, python_of
from dpbayes.experiments.commands.options import scenario_from
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
    linked_texts,
    noise_here,
    settings_of,
    settings_text,
    with_settings,
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

scenarios = st.builds(
    Scenario,
    n=st.integers(1, 100_000),
    sides=st.integers(2, 6),
    balance=st.sampled_from(Balance),
    share=st.floats(0, 1),
    prior=st.floats(1e-3, 1e3),
    epsilon=st.floats(1e-3, 1e3),
    delta=st.floats(1e-12, 0.1),
    calibration=st.sampled_from(SmoothRun),
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
    frame = with_settings(pd.DataFrame({"n": [1, 2], "x": [0.5, 0.6]}), ODD, seed=3)
    assert frame["n"].tolist() == [1, 2]
    line = frame.iloc[0]
    assert (line["m"], line["epsilon"], line["prior"], line["delta"], line["seed"]) == (3, 1.7, 0.3, 1e-3, 3)
    assert (line["balance"], line["share"], line["calibration"]) == ("by share", 0.6, "as printed")
    assert line["settings"] == settings_text(ODD, seed=3)


# Settings as text


@given(scenario=scenarios, seed=st.integers(0, 2**32 - 1))
def test_settings_survive_being_text(scenario, seed):
    assert scenario_from(Scenario, parameter_texts(scenario)) == scenario
    texts = linked_texts(settings_text(scenario, seed=seed))
    assert int(texts.pop("seed")) == seed
    assert scenario_from(Scenario, texts) == scenario
    names: dict[str, object] = {}
    exec("\n".join(python_of(scenario, seed=seed).splitlines()[:2]), names)
    assert names["scenario"] == scenario


def test_a_link_holds_what_is_ours_and_what_is_not():
    link = "http://localhost/hellinger?hellinger.n=7&hellinger.range=all+counts&accuracy.n=3&seat=curator&epsilon=2"
    assert linked_texts(link) == {"n": "7", "epsilon": "2"}
    assert linked_texts("") == {}
    assert linked_texts("hellinger.balance=by%20share&seed=4") == {"balance": "by share", "seed": "4"}


# The command


def frame_printed(command: str, capsys: pytest.CaptureFixture[str]) -> pd.DataFrame:
    assert main(shlex.split(command)[3:]) == 0
    return pd.read_csv(io.StringIO(capsys.readouterr().out))


def test_the_command_runs_the_experiment_and_single_options_win_over_the_link(capsys):
    expected = hellinger_study(ODD, seed=3).frame()
    pd.testing.assert_frame_equal(frame_printed(command_of(ODD, seed=3), capsys), expected)
    other = settings_text(ODD.at(n=9), seed=8)
    frame = frame_printed(f"python -m dpbayes.experiments hellinger --settings {other!r} --n 12 --seed 3", capsys)
    pd.testing.assert_frame_equal(frame, expected)


def test_files_carry_the_settings(tmp_path, capsys):
    for name in ("out.csv", "out.parquet"):
        assert main([*shlex.split(command_of(ODD, seed=3))[3:], "--out", str(tmp_path / name)]) == 0
        assert capsys.readouterr().out == f"Written to {tmp_path / name}\n"
    expected = hellinger_study(ODD, seed=3).frame()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), expected)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), expected)
    schema = arrow_parquet.read_schema(tmp_path / "out.parquet").metadata[b"dpbayes"]
    assert json.loads(schema) == settings_of(ODD, seed=3)
    study = hellinger_study(ODD, seed=3)
    assert (tmp_path / "out.parquet").read_bytes() == parquet_bytes(study.frame(), study.settings)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("--n 0", "n must"),
        ("--n 2.5", "n must"),
        ("--n 10000000000", "n must"),
        ("--epsilon nan", "epsilon must"),
        ("--sides 7", "sides must"),
        ("--balance odd", "balance must be one of: balanced, skewed, by share."),
        ("--calibration ''", "calibration must be one of"),
        ("--seed -1", "seed must"),
        ("--sides 3 --n 1000", "Use at most 630 throws, or fewer sides"),
        ("--settings hellinger.throws=5", 'There is no setting "throws"'),
        ("--out results.txt", "that ends in .csv or .parquet"),
        ("--n 3 --out /nowhere/at/all.csv", "nowhere"),
    ],
)
def test_bad_input_is_one_sentence(words, part, capsys):
    assert main(["hellinger", *shlex.split(words)]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert part in shown.err
    assert len(shown.err.strip().splitlines()) == 1
