"""What the command lines of all experiments share: options from annotated settings, and commands as texts."""

import argparse
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dpbayes.base.parameters import Choice, Parameter, parameters_of, read
from dpbayes.base.validation import InputError, brief

ScenarioT = TypeVar("ScenarioT")


def scenario_from(kind: type[ScenarioT], texts: Mapping[str, str]) -> ScenarioT:
    """Return the settings that these texts by field name describe, defaults for the others. Errors: InputError."""
    known, values = parameters_of(kind), dict[str, Any]()
    for name, text in texts.items():
        if name not in known:
            raise InputError(f"There is no setting {brief(name)} of this experiment; choose from {', '.join(known)}.")
        values[name] = read(known[name], option(name), text)
    return kind(**values)


def shell(experiment: str, words: Iterable[str]) -> str:
    """Return a whole command, to paste into a shell."""
    return shlex.join(["python", "-m", "dpbayes.experiments", experiment, *words])


def option(name: str) -> str:
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"


def add_settings(parser: argparse.ArgumentParser, kind: type[Any]) -> None:
    """Give a parser a pasted link, and one option for every annotated field."""
    parser.add_argument(
        "--settings", default="", metavar="LINK", help="the page's link, or the settings that a file of results holds"
    )
    for name, parameter in parameters_of(kind).items():
        parser.add_argument(option(name), dest=name, help=_help(name, parameter))


def add_out(parser: argparse.ArgumentParser, *, otherwise: str) -> None:
    """Give a parser a file to write; `otherwise` says what is done without it."""
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"a .csv or .parquet file; without it, {otherwise}")


def _help(name: str, parameter: Parameter | Choice) -> str:
    title = parameter.title or name
    if isinstance(parameter, Choice):
        return f"{title}: one of " + ", ".join(f'"{option.value}"' for option in parameter.options)
    return f"{title}: {parameter.low:g} to {parameter.high:g}"
