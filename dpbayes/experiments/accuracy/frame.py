"""Results as a table or a file that carries its settings."""

import io
import json
import math
from collections.abc import Mapping

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.experiments.accuracy.study import AccuracyStudy, settings_of

Settings = Mapping[str, str | int | float]


def tidy(study: AccuracyStudy, settings: Settings) -> pd.DataFrame:
    """Return a study's frame with `settings`, such as those of its recipe, in columns as well."""
    return study.frame().assign(**settings)


def parquet_bytes(study: AccuracyStudy, settings: Settings | None = None) -> bytes:
    """Return the tidy frame as Parquet; the settings are in its columns and, as JSON, in the metadata `dpbayes`."""
    named = dict(settings or {})
    table = pa.Table.from_pandas(tidy(study, named), preserve_index=False)
    every = {"repeats": study.repeats, **settings_of(study.plan), **named}
    text = json.dumps({key: _known(value) for key, value in every.items()}, ensure_ascii=False, allow_nan=False)
    held = table.replace_schema_metadata({**(table.schema.metadata or {}), b"dpbayes": text.encode()})
    out = io.BytesIO()
    arrow_parquet.write_table(held, out)
    return out.getvalue()


def _known(value: str | int | float) -> str | int | float | None:
    """Return a value as JSON has it, which knows no NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value
