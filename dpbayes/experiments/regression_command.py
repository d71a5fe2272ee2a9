"""The regression experiment from a command line: settings as the page's link has them, a tidy file out."""

import argparse
from pathlib import Path
from urllib.parse import parse_qsl

import pandas as pd

from dpbayes.experiments.regression import final
from dpbayes.experiments.regression_scenario import RegressionScenario, experiment, records_of, scenario_from, tidy
from dpbayes.parameters import Choice, Parameter, parameters_of
from dpbayes.validation import InputError, whole_number

_SEEDS = ("seed", "data_seed")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser one option for every setting, a pasted link, and a file to write."""
    parser.add_argument("--settings", default="", metavar="LINK", help="the page's link, or what follows its ?")
    for name, parameter in parameters_of(RegressionScenario).items():
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, help=_help(parameter))
    for name in _SEEDS:
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name)
    parser.add_argument("--out", type=Path, metavar="FILE", help="a .csv or .parquet file; without it, CSV is printed")


def frame_of(arguments: argparse.Namespace) -> pd.DataFrame:
    """Return the tidy frame that these options ask for; single options win over the link. Errors: InputError."""
    own = parameters_of(RegressionScenario)
    linked = dict(parse_qsl(arguments.settings.rpartition("?")[2], keep_blank_values=True))
    texts = {key.removeprefix("regression."): text for key, text in linked.items() if key.startswith("regression.")}
    given = {name: getattr(arguments, name) for name in (*own, *_SEEDS) if getattr(arguments, name) is not None}
    scenario = scenario_from(texts | {name: text for name, text in given.items() if name in own})
    seeds = {name: _seed(name, given.get(name, linked.get(name, "1"))) for name in _SEEDS}
    records = records_of(scenario, seed=seeds["data_seed"])
    return tidy(final(experiment(scenario, records, seed=seeds["seed"])), scenario, **seeds)


def run(arguments: argparse.Namespace) -> str:
    """Run the experiment and return its frame as CSV, or where it was written. Errors: InputError."""
    out: Path | None = arguments.out
    if out and out.suffix not in (".csv", ".parquet"):
        raise InputError("The file to write must end in .csv or .parquet.")
    frame = frame_of(arguments)
    if not out:
        return frame.to_csv(index=False).rstrip("\n")
    if out.suffix == ".csv":
        frame.to_csv(out, index=False)
    else:
        frame.to_parquet(out, index=False)
    return f"{len(frame)} lines written to {out}"


def _seed(name: str, text: object) -> int:
    return whole_number(f"The {name.replace('_', ' ')}", text, low=0, high=2**32 - 1)


def _help(parameter: Parameter | Choice) -> str:
    if isinstance(parameter, Choice):
        return f"{parameter.title}: one of " + ", ".join(f'"{option.value}"' for option in parameter.options)
    return f"{parameter.title}: {parameter.low:g} to {parameter.high:g}"
