"""The Hellinger experiment as a command line and as Python: what the page shows to copy."""

import argparse

from dpbayes.base.parameters import parameter_texts, parameters_of
from dpbayes.base.validation import whole_number
from dpbayes.commands.experiments.files import require_suffix, write
from dpbayes.commands.experiments.options import add_out, add_settings, option, scenario_from, shell
from dpbayes.experiments.hellinger.scenario import Scenario
from dpbayes.experiments.hellinger.study import (
    HellingerStudy,
    hellinger_study,
    linked_texts,
)


def command_of(scenario: Scenario, *, seed: int) -> str:
    """Return the whole command, to paste into a shell."""
    words = [word for name, text in parameter_texts(scenario).items() for word in (option(name), text)]
    return shell("hellinger", [*words, "--seed", str(seed)])


def python_of(scenario: Scenario, *, seed: int) -> str:
    """Return the same in three lines of Python."""
    return (
        "from dpbayes.commands.experiments.hellinger import Scenario, hellinger_study, scenario_from\n"
        f"scenario = scenario_from(Scenario, {parameter_texts(scenario)!r})\n"
        f"print(hellinger_study(scenario, seed={seed}).frame())\n"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser one option for every setting, a pasted link, and a file to write."""
    add_settings(parser, Scenario)
    parser.add_argument("--seed", help="of the simulated noise (1)")
    add_out(parser, otherwise="CSV is printed")


def study_of(asked: argparse.Namespace) -> HellingerStudy:
    """Run what these options ask for; single options win over the link. Errors: InputError."""
    names = (*parameters_of(Scenario), "seed")
    given = {name: getattr(asked, name) for name in names if getattr(asked, name) is not None}
    texts = {"seed": "1"} | linked_texts(asked.settings) | given
    seed = whole_number("seed", texts.pop("seed"), low=0, high=2**32 - 1)
    return hellinger_study(scenario_from(Scenario, texts), seed=seed)


def run(asked: argparse.Namespace) -> str:
    """Run the experiment and return its frame as CSV, or where it was written. Errors: InputError."""
    require_suffix(asked.out)
    study = study_of(asked)
    if not asked.out:
        return study.frame().to_csv(index=False).rstrip("\n")
    return write(study.frame(), asked.out, study.settings)
