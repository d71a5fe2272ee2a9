"""Files that the experiments' commands write: results with their settings, and pictures."""

import io
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpbayes.base.libraries import arrow_parquet, pa, pd
from dpbayes.base.output import require_output, write_output
from dpbayes.base.validation import InputError, brief
from dpbayes.figures.style import Figure, plotly

Settings = Mapping[str, str | int | float]


def require_suffix(out: Path | None, *inputs: str | Path | None) -> None:
    """Refuse, before work begins, a file of an unsupported kind, or one of the inputs. Errors: InputError.

    An input can also be a key or a text; only existing files and folders are compared.
    """
    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise InputError(f"The results need a file name that ends in .csv or .parquet; {brief(out.name)} does not.")
    if out is not None:
        require_output(out, [Path(given) for given in inputs if given and os.path.exists(given)], force=True)


def write(frame: "pd.DataFrame", out: Path, settings: Settings) -> str:
    """Write results with their settings, and return a line with the place. Errors: OSError."""
    as_csv = out.suffix == ".csv"
    write_output(out, frame.to_csv(index=False).encode() if as_csv else parquet_bytes(frame, settings), force=True)
    return f"Written to {out}"


def as_csv_or_written(frame: "pd.DataFrame", out: Path | None, settings: Settings) -> str:
    """Return results as CSV, or write them with their settings and return the place. Errors: OSError."""
    return frame.to_csv(index=False).rstrip("\n") if out is None else write(frame, out, settings)


def require_page(picture: Path | None) -> None:
    """Refuse, before work begins, a picture in an unsupported kind of file, or without Plotly. Errors: InputError."""
    if picture is not None and picture.suffix != ".html":
        raise InputError(f"The picture needs a file name that ends in .html; {brief(picture.name)} does not.")
    if picture is not None:
        require_output(picture, (), force=True)
        plotly()


def draw(figure: Figure, picture: Path) -> str:
    """Write a figure as a page that works offline, and return its place. Errors: InputError, OSError."""
    write_output(picture, figure.to_plotly().to_html(include_plotlyjs=True).encode(), force=True)
    return f"Picture written to {picture}"


def parquet_bytes(frame: "pd.DataFrame", settings: Settings) -> bytes:
    """Return a frame as Parquet, with settings, as JSON, in the metadata `dpbayes`."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    values = {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in settings.items()}
    text = json.dumps(values, ensure_ascii=False, allow_nan=False, default=_plain).encode()
    out = io.BytesIO()
    arrow_parquet.write_table(table.replace_schema_metadata({**(table.schema.metadata or {}), b"dpbayes": text}), out)
    return out.getvalue()


def _plain(value: Any) -> Any:
    """Return a NumPy number as a plain number."""
    return value.item()
