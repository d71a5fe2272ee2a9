"""The settings that a file of results carries, and the command that they hold, give the same results again."""

import json
import math
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as arrow_parquet
import pytest

from dpbayes.base.steps import Partial
from dpbayes.experiments.__main__ import main
from dpbayes.experiments.accuracy.methods import METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic, epsilon_grid
from dpbayes.experiments.accuracy.study import accuracy_steps, accuracy_study
from dpbayes.experiments.commands.accuracy import UNNAMED, AccuracyRecipe, digest, parquet_bytes, recipe_of
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import load_named, naive_bayes
from dpbayes.sources.shipped_tables import default_network, load_shipped

FEW = (METHODS["laplace"], METHODS["sampler_many"])


def plan_of(network: Network, target: str, **more) -> AccuracyPlan:
    given = {"epsilons": epsilon_grid(0.5, 50, points=3), "methods": FEW, "repeats": 6, "draws": 3}
    return AccuracyPlan(network=network, target=target, **(given | more))


def shipped(key: str, target: str) -> AccuracyRecipe:
    return AccuracyRecipe(plan_of(default_network(key), target, source=load_shipped(key), testing=300), table=key)


SHAPES = Network.from_edges(("shape", "big"), [("shape", "big")], {"shape": ("a", "b, c", '"d"')})
RECIPES: dict[str, Callable[[], AccuracyRecipe]] = {
    "naive Bayes, 3 features": lambda: AccuracyRecipe(plan_of(naive_bayes(3), "class"), features=3),
    "asia": lambda: AccuracyRecipe(plan_of(load_named("asia")[0], "lung", testing=77), named="asia"),
    "survey": lambda: AccuracyRecipe(
        plan_of(load_named("survey")[0], "T", source=Synthetic(records=90, strength=0.3)), named="survey"
    ),
    "that of house_votes_84": lambda: shipped("house_votes_84", "party"),
    "that of adult": lambda: shipped("adult", "income"),
    "drawn": lambda: AccuracyRecipe(plan_of(SHAPES, "big", epsilons=(0.3, 0.7, 1 / 0.7))),
}
"""Every worker imports this module, and a large table takes 50 MB: recipes are made in the tests that need them."""


def command_of(frame: pd.DataFrame) -> list[str]:
    words = shlex.split(frame["command"].iloc[0])
    assert words[:3] == ["python", "-m", "dpbayes.experiments"]
    return words[3:]


@pytest.mark.parametrize("name", RECIPES)
def test_the_command_in_a_file_makes_the_same_file(name, tmp_path):
    recipe = RECIPES[name]()
    study = accuracy_study(recipe.plan)
    frame = recipe.frame(study)
    assert (frame["network"] == name).all()
    assert (frame["planned repeats"] == 6).all()
    file = tmp_path / "again.parquet"
    assert main([*command_of(frame), "--out", str(file)]) == 0
    again = arrow_parquet.read_table(file)
    pd.testing.assert_frame_equal(again.to_pandas(), frame)
    settings = json.loads(again.schema.metadata[b"dpbayes"])
    assert settings["command"] == recipe.command
    assert all(settings[key] == value for key, value in recipe.settings.items())
    assert main([*command_of(frame), "--out", str(tmp_path / "again.csv")]) == 0
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "again.csv", keep_default_na=False, na_values=["nan"])[["method", "command"]],
        frame[["method", "command"]],
    )


def test_tables_are_distinguished():
    votes, adult = (RECIPES[f"that of {key}"]().settings for key in ("house_votes_84", "adult"))
    assert (votes["source"], adult["source"]) == ("house_votes_84", "adult")
    assert votes["columns digest"] != adult["columns digest"]
    assert json.loads(str(adult["states"]))["income"] == ["<=50K", ">50K"]
    assert RECIPES["naive Bayes, 3 features"]().settings["states"] == "", "all are no and yes"
    assert json.loads(str(RECIPES["asia"]().settings["states"]))["lung"] == ["yes", "no"]
    assert RECIPES["asia"]().settings["source"] == "synthetic"


def test_three_lines_of_python_give_the_file():
    recipe = RECIPES["asia"]()
    names: dict = {}
    exec(recipe.python.replace("print(", "shown = (", 1), names)
    pd.testing.assert_frame_equal(names["shown"], recipe.frame(accuracy_study(recipe.plan)))
    assert len(recipe.python.strip().splitlines()) == 3


def test_a_stopped_study_keeps_what_was_planned():
    recipe = AccuracyRecipe(plan_of(naive_bayes(2), "class", repeats=4000), features=2)
    stopped = next(step.result for step in accuracy_steps(recipe.plan) if isinstance(step, Partial))
    assert stopped.repeats < 4000
    frame = recipe.frame(stopped)
    assert (frame["repeats"] == stopped.repeats).all()
    assert (frame["planned repeats"] == 4000).all()
    assert "--repeats 4000" in frame["command"].iloc[0]


def own_table(records: int = 300) -> Dataset:
    codes = np.random.default_rng(1).integers(0, (3, 2), (records, 2)).astype(np.uint8)
    return Dataset(SHAPES.names, SHAPES.states, codes)


def test_a_table_of_ones_own_has_its_name_and_a_digest_of_its_columns(tmp_path: Path, monkeypatch):
    table = own_table()
    recipe = AccuracyRecipe(plan_of(SHAPES, "big", source=table), table="mine.csv")
    settings = recipe.settings
    assert settings["source"] == "mine.csv"
    assert settings["columns digest"] == digest(own_table(records=7)), "of columns and domains, not of records"
    assert digest(Dataset(("shape", "b"), table.states, table.codes)) != digest(table)
    values = {n: np.array(s)[table.column(n)] for n, s in zip(table.names, table.states, strict=True)}
    pd.DataFrame(values).to_csv(tmp_path / "mine.csv", index=False)
    monkeypatch.chdir(tmp_path)
    again = recipe_of(recipe.arguments)
    pd.testing.assert_frame_equal(again.frame(accuracy_study(again.plan)), recipe.frame(accuracy_study(recipe.plan)))


def test_a_table_without_a_name_is_not_mistaken_for_another(capsys):
    recipe = AccuracyRecipe(plan_of(SHAPES, "big", source=own_table()))
    assert recipe.settings["source"] == UNNAMED
    assert main(["accuracy", *recipe.arguments]) == 2
    assert "no table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--features", "0"], "between 1 and"),
        (["--features", "x"], "must be a number"),
        (["--repeats", "0"], "repeats must be between 2"),
        (["--repeats", "1000000000"], "TB of memory; use at most"),
        (["--repeats", "2.5"], "whole number"),
        (["--low", "5", "--high", "1"], "5 is not below 1"),
        (["--low", "nan"], "NaN"),
        (["--points", "0"], "--points must be between 1 and 200"),
        (["--records", "50"], "no test record is left"),
        (["--network", "nowhere"], "no network"),
        (["--network", "asia", "--features", "2"], "give one of them"),
        (["--table", "nothing"], "no table"),
        (["--target", "nobody"], "no node"),
        (["--methods", "magic"], "no method"),
        (["--arrows", "a -> b\nb -> a"], "cycle"),
        (["--arrows", "a -> b", "--states", "{"], "JSON"),
        (["--arrows", "a -> b", "--states", '{"a": ["x", "y", "z"]}', "--methods", "fourier"], "binary"),
        (["--table", "house_votes_84", "--arrows", "me -> party"], "no column"),
        (["--out", "result.txt"], ".csv or .parquet"),
        (["--stealth", "1"], "stealth"),
        (["--prior", "0"], "prior"),
        (["--weights", "class=0"], "weight must be between"),
        (["--weights", "nobody=2"], "no node"),
        (["--weights", "class"], "NODE=NUMBER"),
        (["--table", "mine.csv"], "--states"),
        (["--table", "mine.csv", "--states", '{"a": ["x", "y"]}'], "--arrows"),
        (["--table", "mine.csv", "--states", '{"a": ["x"]}', "--arrows", "a"], "not a declared state"),
        (["--table", "mine.csv", "--states", '{"b": ["x"]}', "--arrows", "b"], "no column"),
        (["--epsilons", "2", "1"], "must be in increasing order"),
        (["--epsilons", "x"], "must be a number"),
        (["--testing", "0"], "test"),
    ],
)
def test_bad_words_are_one_sentence(words, said, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.csv").write_text("a\nx\ny\n")
    monkeypatch.chdir(tmp_path)
    assert main(["accuracy", *words]) == 2
    message = capsys.readouterr().err.strip()
    assert said in message
    assert len(message.splitlines()) == 1
    assert len(message) < 300


def test_the_command_prints_and_takes_arrows(tmp_path, capsys):
    words = ["accuracy", "--records", "60", "--training", "20", "--repeats", "4", "--points", "3"]
    assert main([*words, "--features", "2"]) == 0
    assert "Laplace" in capsys.readouterr().out
    arrows = tmp_path / "arrows.txt"
    arrows.write_text("a -> b\nb -> c\n")
    assert main([*words, "--arrows", str(arrows), "--methods", "laplace"]) == 0


def test_metadata_is_json_that_others_read():
    recipe = RECIPES["that of house_votes_84"]()
    assert math.isnan(recipe.frame(study := accuracy_study(recipe.plan))["strength"].iloc[0])
    assert b"NaN" not in parquet_bytes(study, recipe.settings)
