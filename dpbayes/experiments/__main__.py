"""Experiments from the command line: `python -m dpbayes.experiments accuracy --help`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy import command as accuracy_command
from dpbayes.experiments.calibration import command as calibration_command
from dpbayes.experiments.hellinger import command as hellinger_command
from dpbayes.experiments.least_epsilon import command as epsilon_command
from dpbayes.experiments.regression import command as regression_command


class Command(NamedTuple):
    """One experiment: what it is, the words it takes, and how it is run to a text."""

    about: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], str]


COMMANDS = {
    "accuracy": Command(
        "predictive accuracy of every mechanism against epsilon", accuracy_command.add_arguments, accuracy_command.run
    ),
    "regression": Command(
        "squared error of private regression against prior precision, with epsilon",
        regression_command.add_arguments,
        regression_command.run,
    ),
    "hellinger": Command(
        "error of a die's released posterior against throws, epsilon and sides",
        hellinger_command.add_arguments,
        hellinger_command.run,
    ),
    "epsilon": Command(
        "least epsilon at which a released answer is near enough, often enough, and what that epsilon means",
        epsilon_command.add_arguments,
        epsilon_command.run,
    ),
    "calibration": Command(
        "how often intervals hold the truth, with noisy counts taken as real and with the noise taken into account",
        calibration_command.add_arguments,
        calibration_command.run,
    ),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one experiment; bad input is one sentence on the error stream and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m dpbayes.experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="experiment")
    for name, command in COMMANDS.items():
        command.add_arguments(commands.add_parser(name, help=command.about, description=command.about))
    asked = parser.parse_args(words)
    try:
        print(COMMANDS[asked.command].run(asked))
    except (InputError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
