"""What the command lines of all experiments share: options from annotated settings, texts of them, and files."""

import argparse
import enum
import io
import json
import math
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.base.parameters import Choice, Parameter, parameters_of, read
from dpbayes.base.validation import InputError, brief
from dpbayes.figures.style import Figure

Settings = Mapping[str, str | int | float]

ScenarioT = TypeVar("ScenarioT")


# Settings as texts


def texts_of(scenario: object) -> dict[str, str]:
    """Return annotated settings as texts by field name; `scenario_from` reads them back, exactly."""
    values = {name: getattr(scenario, name) for name in parameters_of(type(scenario))}
    return {name: str(value.value) if isinstance(value, enum.Enum) else repr(value) for name, value in values.items()}


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


# Options


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


# Files


def require_suffix(out: Path | None) -> None:
    """Refuse, before work begins, a file of another kind than can be written. Errors: InputError."""
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"The results are written to a file ending in .csv or .parquet; {brief(out.name)} does not.")


def write(frame: pd.DataFrame, out: Path, settings: Settings) -> str:
    """Write results with their settings, and return where. Errors: OSError."""
    if out.suffix == ".csv":
        frame.to_csv(out, index=False)
    else:
        out.write_bytes(parquet_bytes(frame, settings))
    return f"Written to {out}"


def require_page(picture: Path | None) -> None:
    """Refuse, before work begins, a picture in another kind of file. Errors: InputError."""
    if picture is not None and picture.suffix != ".html":
        raise InputError(f"The picture is drawn in a file ending in .html; {brief(picture.name)} does not.")


def draw(figure: Figure, picture: Path) -> str:
    """Write a figure as a page of its own, which needs no network, and return where. Errors: InputError, OSError."""
    try:
        plotly = figure.to_plotly()
    except ImportError:
        raise InputError("The picture needs Plotly, which is not installed: pip install plotly.") from None
    plotly.write_html(picture, include_plotlyjs=True)
    return f"Drawn in {picture}"


def parquet_bytes(frame: pd.DataFrame, settings: Settings) -> bytes:
    """Return a frame as Parquet, with settings, as JSON, in the metadata `dpbayes`."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    known = {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in settings.items()}
    text = json.dumps(known, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    out = io.BytesIO()
    arrow_parquet.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), b"dpbayes": text}), out)
    return out.getvalue()


def _plain(value: Any) -> Any:
    """Return a number of an array as JSON takes it."""
    return value.item()
