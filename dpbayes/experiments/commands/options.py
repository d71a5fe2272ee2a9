"""Shared parts of the experiments' command lines: options from settings, a network and a table, commands as texts."""

import argparse
import dataclasses
import enum
import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from dpbayes.base.command import in_help
from dpbayes.base.parameters import Choice, Parameter, parameter_texts, parameters_of, read
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError, brief, utf8_text, whole_number
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.columns import Categories, encode
from dpbayes.sources.edgelist import read_edges
from dpbayes.sources.files import read_table
from dpbayes.sources.named_networks import NAMED, load_named, naive_bayes
from dpbayes.sources.shipped_tables import SHIPPED, default_network, load_shipped

ScenarioT = TypeVar("ScenarioT")


# Settings as words


def option(name: str) -> str:
    """Return the option of a field."""
    return f"--{name.replace('_', '-')}"


def words_of(settings: object) -> list[str]:
    """Return the words for every annotated field of some settings; `values_given` reads them back exactly."""
    return [word for name, text in parameter_texts(settings).items() for word in (option(name), text)]


def shell(experiment: str, words: Iterable[str]) -> str:
    """Return a whole command, to paste into a shell."""
    return shlex.join(["python", "-m", "dpbayes.experiments", experiment, *words])


def add_settings(parser: argparse._ActionsContainer, kind: type[Any]) -> None:
    """Add one option to a parser for every annotated field of a dataclass."""
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    for name, parameter in parameters_of(kind).items():
        metavar = "NUMBER" if isinstance(parameter, Parameter) else "NAME"
        parser.add_argument(option(name), dest=name, metavar=metavar, help=_help(name, parameter, defaults[name]))


def add_link(parser: argparse.ArgumentParser) -> None:
    """Add the option for a pasted link to a parser."""
    parser.add_argument(
        "--settings", default="", metavar="LINK", help="the page's link, or the settings column of a results file"
    )


def add_out(parser: argparse.ArgumentParser, *, otherwise: str) -> None:
    """Add the option for a results file to a parser; `otherwise` describes the output without it."""
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"a .csv or .parquet file; without it, {otherwise}")


def _help(name: str, parameter: Parameter | Choice, default: Any) -> str:
    """Return the help of an option: its title, its values, its default and, if there is one, its description."""
    title = in_help(parameter.title or name.replace("_", " "))
    meaning = f"; {in_help(parameter.description)}" if parameter.description else ""
    if isinstance(parameter, Choice):
        choices = ", ".join(_named(choice, parameter.label(choice)) for choice in parameter.options)
        return f'{title}: one of {choices} (default: "{default.value}"){meaning}'
    low, high = numeral(parameter.low, 12), numeral(parameter.high, 12)
    usual = numeral(default, 12) if isinstance(default, int | float) else default
    return f"{title}: {low} to {high} (default: {usual}){meaning}"


def _named(choice: enum.Enum, label: str) -> str:
    """Return the value of a choice for the command line, and its name on a page if that differs."""
    return f'"{choice.value}"' if label == choice.value else f'"{choice.value}" ({label})'


# Words as settings


def texts_given(kind: type[Any], args: argparse.Namespace) -> dict[str, str]:
    """Return the given words for the annotated fields of a dataclass by field name."""
    return {name: getattr(args, name) for name in parameters_of(kind) if getattr(args, name) is not None}


def values_given(kind: type[Any], args: argparse.Namespace) -> dict[str, Any]:
    """Return the given values of the annotated fields by field name. Errors: InputError."""
    return _values(kind, texts_given(kind, args))


def settings_given(kind: type[ScenarioT], args: argparse.Namespace) -> ScenarioT:
    """Return the settings that these words describe, with defaults for the other fields. Errors: InputError."""
    return kind(**values_given(kind, args))


def scenario_from(kind: type[ScenarioT], texts: Mapping[str, str]) -> ScenarioT:
    """Return the settings that these texts by field name describe, with defaults otherwise. Errors: InputError."""
    return kind(**_values(kind, texts))


def taken(kind: type[ScenarioT], texts: dict[str, str]) -> ScenarioT:
    """Return the settings that the texts for these fields describe, and remove these texts from the dictionary."""
    return scenario_from(kind, {name: texts.pop(name) for name in parameters_of(kind) if name in texts})


def _values(kind: type[Any], texts: Mapping[str, str]) -> dict[str, Any]:
    parameters, values = parameters_of(kind), dict[str, Any]()
    for name, text in texts.items():
        if name not in parameters:
            raise InputError(
                f"There is no setting {brief(name)} of this experiment; choose from {', '.join(parameters)}."
            )
        values[name] = _value(parameters[name], option(name), text)
    return values


def _value(parameter: Parameter | Choice, name: str, text: str) -> Any:
    """Read a number or the name of a choice; its first word is enough if no other choice begins with it."""
    if isinstance(parameter, Choice):
        begun = [str(choice.value) for choice in parameter.options if str(choice.value).split()[:1] == [text]]
        text = begun[0] if len(begun) == 1 else text
    return read(parameter, name, text)


# The network and the table that a command names: by a key, a file, or typed arrows


def add_network(parser: argparse._ActionsContainer) -> None:
    """Add the options for a network and a table to a parser."""
    parser.add_argument("--network", metavar="KEY", help=f"a published network: {', '.join(NAMED)}")
    parser.add_argument(
        "--arrows", metavar="TEXT", help="a graph as lines 'parent -> child', or a file with such lines"
    )
    parser.add_argument(
        "--states",
        metavar="JSON",
        help='the states of nodes, such as {"age": ["young", "old"]}; nodes in --arrows have the states ("no", "yes") '
        "if they are left out, and a file needs the states of all nodes",
    )
    parser.add_argument(
        "--table",
        metavar="KEY",
        help=f"a shipped table ({', '.join(SHIPPED)}), or a .csv, .xlsx or .parquet file with --states",
    )


def features_of(args: argparse.Namespace) -> int:
    """Return the number of features of a naive Bayes network: 16 by default."""
    return whole_number("--features", args.features or 16, low=1, high=10**9)


def network_of(args: argparse.Namespace, table: Dataset | None) -> Network:
    """Return the network of a key, of arrows or of a shipped table. Errors: InputError if two are named."""
    given = [name for name in ("features", "network", "arrows") if getattr(args, name, None)]
    if len(given) > 1:
        raise InputError(f"--{given[0]} and --{given[1]} both name a network; give one of them.")
    if args.network:
        return load_named(args.network)[0]
    if args.arrows:
        text = utf8_text(Path(args.arrows).read_bytes()) if _is_file(args.arrows) else args.arrows
        names, edges = read_edges(text)
        return Network.from_edges(names, edges, _stated(args) if table is None else _domains(table))
    if args.table in SHIPPED and not given:
        return default_network(args.table)
    if args.table and not given:
        raise InputError("A table from a file needs a network; give --arrows.")
    return naive_bayes(features_of(args))


def _is_file(text: str) -> bool:
    return "\n" not in text and len(text) < 500 and Path(text).is_file()


def table_of(args: argparse.Namespace) -> Dataset:
    """Return a shipped table, or the columns of a file that --states names, with these states as values."""
    if args.table in SHIPPED or not _is_file(args.table):
        return load_shipped(args.table)
    stated = _stated(args)
    if not stated:
        raise InputError("A table from a file needs --states: the public states of every column that is a node.")
    columns = [Categories(name, states, public=True) for name, states in stated.items()]
    return encode(read_table(args.table, Path(args.table).read_bytes()).frame, columns)


def _domains(table: Dataset) -> dict[str, tuple[str, ...]]:
    return dict(zip(table.names, table.states, strict=True))


def _stated(args: argparse.Namespace) -> dict[str, tuple[str, ...]]:
    try:
        stated = json.loads(args.states or "{}")
        return {str(name): tuple(str(state) for state in states) for name, states in stated.items()}
    except (ValueError, TypeError, AttributeError):
        raise InputError('--states must be JSON such as {"age": ["young", "old"]}.') from None
