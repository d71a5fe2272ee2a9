"""Experiments from the command line: `python -m dpbayes.experiments accuracy --help`."""

import sys

from dpbayes.experiments.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
