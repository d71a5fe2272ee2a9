"""All experiments from the command line: `python -m dpbayes.experiments accuracy --help`."""

import argparse
import sys
from collections.abc import Callable, Sequence

from dpbayes.base.command import HOLDS, Command, run_command
from dpbayes.experiments.commands import accuracy, calibration, hellinger, least_epsilon, regression


def _printed(run: Callable[[argparse.Namespace], str]) -> Callable[[argparse.Namespace], int]:
    """Return a command's function that prints the text of an experiment."""

    def print_text(args: argparse.Namespace) -> int:
        print(run(args))
        return HOLDS

    return print_text


ABOUT = "Run an experiment, and print or store its results."

COMMANDS = {
    "accuracy": Command(
        "compute the accuracy of every mechanism against epsilon", accuracy.add_arguments, _printed(accuracy.run)
    ),
    "regression": Command(
        "compute the squared error of private regression against prior precision, with epsilon",
        regression.add_arguments,
        _printed(regression.run),
    ),
    "hellinger": Command(
        "compute the error of the released posterior of a die against throws, epsilon and sides",
        hellinger.add_arguments,
        _printed(hellinger.run),
    ),
    "epsilon": Command(
        "find the least epsilon at which a released answer is accurate enough, and its meaning for one person",
        least_epsilon.add_arguments,
        _printed(least_epsilon.run),
    ),
    "calibration": Command(
        "compute the coverage of naive and noise-aware intervals", calibration.add_arguments, _printed(calibration.run)
    ),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one experiment; an error is one sentence on the error stream and exit code 2."""
    return run_command(COMMANDS, words, program="python -m dpbayes.experiments", about=ABOUT, metavar="experiment")


if __name__ == "__main__":
    sys.exit(main())
