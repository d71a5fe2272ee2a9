"""Results as a file that carries its settings."""

import io
import json

import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.experiments.accuracy import AccuracyStudy, settings_of


def parquet_bytes(study: AccuracyStudy) -> bytes:
    """Return the tidy frame as Parquet; the settings are in its columns and, as JSON, in the metadata `dpbayes`."""
    table = pa.Table.from_pandas(study.frame(), preserve_index=False)
    settings = json.dumps({"repeats": study.repeats, **settings_of(study.plan)}, ensure_ascii=False)
    held = table.replace_schema_metadata({**(table.schema.metadata or {}), b"dpbayes": settings.encode()})
    out = io.BytesIO()
    arrow_parquet.write_table(held, out)
    return out.getvalue()
