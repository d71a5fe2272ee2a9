"""The Hellinger experiment as a command line and as Python: what the page shows to copy."""

import argparse
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import parameter_texts
from dpbayes.base.randomness import seed_of
from dpbayes.experiments.commands import options
from dpbayes.experiments.commands.files import as_csv_or_written, require_suffix
from dpbayes.experiments.commands.options import scenario_from
from dpbayes.experiments.hellinger.scenario import Scenario
from dpbayes.experiments.hellinger.study import HellingerStudy, hellinger_study, linked_texts


@dataclass(frozen=True, kw_only=True)
class HellingerSeed:
    """What an experiment is drawn from."""

    seed: Annotated[int, seed_of("the simulated noise")] = 1


def command_of(scenario: Scenario, *, seed: int) -> str:
    """Return the whole command, to paste into a shell."""
    return options.shell("hellinger", options.words_of(scenario) + options.words_of(HellingerSeed(seed=seed)))


def python_of(scenario: Scenario, *, seed: int) -> str:
    """Return the same in three lines of Python."""
    return (
        "from dpbayes.experiments.commands.hellinger import Scenario, hellinger_study, scenario_from\n"
        f"scenario = scenario_from(Scenario, {parameter_texts(scenario)!r})\n"
        f"print(hellinger_study(scenario, seed={seed}).frame())\n"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser a pasted link, one option for every setting, and a file to write."""
    options.add_link(parser)
    options.add_settings(parser, Scenario)
    options.add_settings(parser, HellingerSeed)
    options.add_out(parser, otherwise="CSV is printed")


def study_of(args: argparse.Namespace) -> HellingerStudy:
    """Run the study of these options; single options win over the link. Errors: InputError."""
    texts = linked_texts(args.settings) | options.texts_given(Scenario, args) | options.texts_given(HellingerSeed, args)
    drawn = options.taken(HellingerSeed, texts)
    return hellinger_study(scenario_from(Scenario, texts), seed=drawn.seed)


def run(args: argparse.Namespace) -> str:
    """Run the experiment and return its frame as CSV, or where it was written. Errors: InputError."""
    require_suffix(args.out)
    study = study_of(args)
    return as_csv_or_written(study.frame(), args.out, study.settings)
