"""The Hellinger experiment as a command line and as Python code, as the page shows them for copying."""

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
    """The seed of an experiment."""

    seed: Annotated[int, seed_of("the simulated noise")] = 1


def command_of(scenario: Scenario, *, seed: int) -> str:
    """Return the whole command, to paste into a shell."""
    return options.shell("hellinger", options.words_of(scenario) + options.words_of(HellingerSeed(seed=seed)))


def python_of(scenario: Scenario, *, seed: int) -> str:
    """Return three lines of Python for the same experiment."""
    return (
        "from dpbayes.experiments.commands.hellinger import Scenario, hellinger_study, scenario_from\n"
        f"scenario = scenario_from(Scenario, {parameter_texts(scenario)!r})\n"
        f"print(hellinger_study(scenario, seed={seed}).frame())\n"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for a pasted link, for every setting and for the results file to a parser."""
    options.add_link(parser)
    options.add_settings(parser, Scenario)
    options.add_settings(parser, HellingerSeed)
    options.add_out(parser, otherwise="CSV is printed")


def study_of(args: argparse.Namespace) -> HellingerStudy:
    """Run the study of these options; single options override the link. Errors: InputError."""
    texts = linked_texts(args.settings) | options.texts_given(Scenario, args) | options.texts_given(HellingerSeed, args)
    drawn = options.taken(HellingerSeed, texts)
    return hellinger_study(scenario_from(Scenario, texts), seed=drawn.seed)


def run(args: argparse.Namespace) -> str:
    """Run the experiment; return its frame as CSV, or the place of the written file. Errors: InputError."""
    require_suffix(args.out)
    study = study_of(args)
    return as_csv_or_written(study.frame(), args.out, study.settings)
