"""The Hellinger experiment as a command line and as Python: what the page shows to copy."""

import argparse
import shlex
from pathlib import Path

from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.experiments.hellinger.scenario import Scenario
from dpbayes.experiments.hellinger.study import (
    HellingerStudy,
    hellinger_study,
    linked_texts,
    parquet_bytes,
    scenario_from,
    texts_of,
)


def command_of(scenario: Scenario, *, seed: int) -> str:
    """Return the whole command, to paste into a shell."""
    words = [word for name, text in texts_of(scenario).items() for word in (f"--{name}", text)]
    return shlex.join(["python", "-m", "dpbayes.experiments", "hellinger", *words, "--seed", str(seed)])


def python_of(scenario: Scenario, *, seed: int) -> str:
    """Return the same in three lines of Python."""
    return (
        "from dpbayes.experiments.hellinger.study import hellinger_study, scenario_from\n"
        f"scenario = scenario_from({texts_of(scenario)!r})\n"
        f"print(hellinger_study(scenario, seed={seed}).frame())\n"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser one option for every setting, a pasted link, and a file to write."""
    parser.add_argument("--settings", default="", metavar="LINK", help="the page's link, or what follows its ?")
    for name, parameter in parameters_of(Scenario).items():
        parser.add_argument(f"--{name}", help=_help(name, parameter))
    parser.add_argument("--seed", help="of the simulated noise (1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="a .csv or .parquet file; without it, CSV is printed")


def study_of(asked: argparse.Namespace) -> HellingerStudy:
    """Run what these options ask for; single options win over the link. Errors: InputError."""
    names = (*parameters_of(Scenario), "seed")
    given = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    texts = {"seed": "1"} | linked_texts(asked.settings) | given
    seed = whole_number("seed", texts.pop("seed"), low=0, high=2**32 - 1)
    return hellinger_study(scenario_from(texts), seed=seed)


def run(asked: argparse.Namespace) -> str:
    """Run the experiment and return its frame as CSV, or where it was written. Errors: InputError."""
    out: Path | None = asked.out
    if out and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"The results are written to a file ending in .csv or .parquet; {brief(out.name)} does not.")
    study = study_of(asked)
    if not out:
        return study.frame().to_csv(index=False).rstrip("\n")
    if out.suffix == ".csv":
        study.frame().to_csv(out, index=False)
    else:
        out.write_bytes(parquet_bytes(study))
    return f"Written to {out}"


def _help(name: str, parameter: Parameter | Choice) -> str:
    title = parameter.title or name
    if isinstance(parameter, Choice):
        return f"{title}: one of " + ", ".join(f'"{option.value}"' for option in parameter.options)
    return f"{title}: {parameter.low:g} to {parameter.high:g}"
