"""Experiments from the command line: `python -m dpbayes.experiments accuracy --help`."""
