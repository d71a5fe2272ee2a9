"""Croissant metadata of synthetic records: JSON-LD that describes the table for data catalogues and loaders.

The vocabulary is that of the Croissant format specification, version 1.0 (MLCommons 2024).
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import PurePath

from dpbayes.base.spreadsheet import safe_text
from dpbayes.base.validation import InputError, is_writable
from dpbayes.model.dataset import Dataset

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

ENCODINGS = {".csv": "text/csv", ".parquet": "application/x-parquet"}
"""The formats of records that have metadata, by the ending of the file."""

_OF_CROISSANT = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "separator", "source", "subField", "transform"),
)

_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OF_CROISSANT},
}


@dataclass(frozen=True)
class Publication:
    """The statements of a table's publisher that Croissant requires.

    Args:
        license: The licence of the table, best as the address of a known licence.
        creator: The name of the person or the organisation that publishes the table.
        url: The address of the page where the table is described.

    Raises:
        InputError: A text is empty, or the address is invalid.
    """

    license: str
    creator: str
    url: str

    def __post_init__(self) -> None:
        for name, text in vars(self).items():
            if not text.strip() or not is_writable(text):
                raise InputError(f"Croissant metadata needs the {name} of the table.")
        if not self.url.startswith(("https://", "http://")):
            raise InputError("The url of the table must begin with https:// or http://.")


def croissant(
    records: Dataset, content: bytes, file: str, *, sentences: Sequence[str], publication: Publication, day: date
) -> bytes:
    """Return the metadata of a file of synthetic records.

    Args:
        records: The records.
        content: The bytes of the file, a CSV or Parquet file.
        file: The file's name; the file is in the folder of the metadata.
        sentences: The sentences of the release about its guarantee.
        publication: The statements of the publisher.
        day: The day of the publication.

    Returns:
        JSON-LD in UTF-8.

    Raises:
        InputError: The file is neither CSV nor Parquet.
    """
    ending = next((ending for ending in ENCODINGS if file.lower().endswith(ending)), None)
    if ending is None:
        raise InputError(f"Croissant metadata describes files that end in {' or '.join(ENCODINGS)}.")
    written = safe_text if ending == ".csv" else str
    domains = zip(records.names, records.states, strict=True)
    columns = [(written(column), tuple(map(written, states))) for column, states in domains]
    about = f"{records.n:,} synthetic records, sampled from a differentially private release. None is a real record."
    metadata = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": PurePath(file).stem,
        "conformsTo": CONFORMS_TO,
        "description": " ".join([about, *sentences]),
        "license": publication.license,
        "url": publication.url,
        "creator": {"@type": "sc:Organization", "name": publication.creator},
        "datePublished": day.isoformat(),
        "citeAs": f"{publication.creator} ({day.year}): {PurePath(file).stem}. {publication.url}",
        "version": "1.0.0",
        "keywords": ["synthetic data", "differential privacy", "Bayesian network"],
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "table",
                "name": file,
                "contentUrl": file,
                "contentSize": f"{len(content)} B",
                "encodingFormat": ENCODINGS[ending],
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        ],
        "recordSet": [
            *(_states(place, column, states) for place, (column, states) in enumerate(columns)),
            {
                "@type": "cr:RecordSet",
                "@id": "records",
                "name": "records",
                "description": "The synthetic records.",
                "field": [_field(place, column) for place, (column, _) in enumerate(columns)],
            },
        ],
    }
    return (json.dumps(metadata, indent=1, ensure_ascii=False) + "\n").encode()


def _states(place: int, column: str, states: Sequence[str]) -> dict[str, object]:
    """Return the public states of a column, as an enumeration."""
    own, name = f"states-{place}", f"states-{place}/state"
    return {
        "@type": "cr:RecordSet",
        "@id": own,
        "name": own,
        "description": f"The declared states of {column}.",
        "dataType": "sc:Enumeration",
        "key": {"@id": name},
        "field": [{"@type": "cr:Field", "@id": name, "name": "state", "dataType": "sc:Text"}],
        "data": [{name: state} for state in states],
    }


def _field(place: int, column: str) -> dict[str, object]:
    return {
        "@type": "cr:Field",
        "@id": f"records/column-{place}",
        "name": f"column-{place}",
        "description": column,
        "dataType": "sc:Text",
        "source": {"fileObject": {"@id": "table"}, "extract": {"column": column}},
        "references": {"field": {"@id": f"states-{place}/state"}},
    }
