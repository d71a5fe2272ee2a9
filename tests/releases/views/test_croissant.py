"""Croissant metadata: the fields that the specification requires, and columns and states as the file has them."""

import csv
import hashlib
import io
import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpbayes.base.command import HOLDS, REFUSED
from dpbayes.base.validation import InputError
from dpbayes.model.dataset import Dataset
from dpbayes.releases.commands.main import main
from dpbayes.releases.views.croissant import Publication, croissant
from dpbayes.releases.views.files import records_csv, records_parquet
from tests.releases.made import released

REQUIRED = {
    "@context",
    "@type",
    "conformsTo",
    "description",
    "license",
    "name",
    "url",
    "creator",
    "datePublished",
    "distribution",
}
"""What the specification requires of a data set, and what a file needs to be found."""

OF_A_FILE = {"@type", "@id", "name", "contentUrl", "encodingFormat", "sha256"}
OF_A_FIELD = {"@type", "@id", "name", "dataType", "source"}

PUBLICATION = Publication("https://spdx.org/licenses/CC0-1.0.html", "A clinic", "https://example.org/table")
ODD = Dataset(("=a", "b c"), (("+1", "no"), ("x", "y, z", '"')), np.array([[0, 1], [1, 2], [0, 0]]))
WRITERS = {".csv": records_csv, ".parquet": records_parquet}


def described(ending: str, records: Dataset = ODD) -> tuple[bytes, dict[str, Any]]:
    content = WRITERS[ending](records)
    sentences = ["A sentence."]
    metadata = croissant(
        records, content, f"records{ending}", sentences=sentences, publication=PUBLICATION, day=date(2026, 3, 31)
    )
    return content, json.loads(metadata)


@pytest.mark.parametrize("ending", WRITERS)
def test_the_required_fields_are_there(ending: str) -> None:
    content, metadata = described(ending)
    assert set(metadata) >= REQUIRED
    assert (metadata["@type"], metadata["conformsTo"]) == ("sc:Dataset", "http://mlcommons.org/croissant/1.0")
    assert metadata["datePublished"] == "2026-03-31"
    assert "A sentence." in metadata["description"]
    (file,) = metadata["distribution"]
    assert set(file) >= OF_A_FILE
    assert file["sha256"] == hashlib.sha256(content).hexdigest()
    assert file["contentUrl"] == f"records{ending}"
    for record_set in metadata["recordSet"]:
        assert record_set["@type"] == "cr:RecordSet"
        assert record_set["field"]
    assert all(set(field) >= OF_A_FIELD for field in metadata["recordSet"][-1]["field"])


@pytest.mark.parametrize("ending", WRITERS)
def test_every_column_and_every_state_is_called_as_in_the_file(ending: str) -> None:
    content, metadata = described(ending)
    if ending == ".csv":
        header, *rows = list(csv.reader(io.StringIO(content.decode())))
    else:
        table = pq.read_table(io.BytesIO(content))
        header, rows = table.column_names, [list(row.values()) for row in table.to_pylist()]
    *states, records = metadata["recordSet"]
    assert [field["source"]["extract"]["column"] for field in records["field"]] == header
    for place, (field, own) in enumerate(zip(records["field"], states, strict=True)):
        (key,) = (inner["@id"] for inner in own["field"])
        assert field["references"]["field"]["@id"] == own["key"]["@id"] == key
        assert {row[place] for row in rows} <= {state[key] for state in own["data"]}
        assert len(own["data"]) == len(ODD.states[place])


def test_every_reference_is_defined_and_every_id_is_unique() -> None:
    _, metadata = described(".csv")
    ids: list[str] = []
    references: list[str] = []

    def collect(value: object) -> None:
        if isinstance(value, dict):
            (ids if "@type" in value else references).extend([value["@id"]] if "@id" in value else [])
            for inner in value.values():
                collect(inner)
        elif isinstance(value, list):
            for inner in value:
                collect(inner)

    collect({name: value for name, value in metadata.items() if name != "@context"})
    assert len(ids) == len(set(ids))
    assert set(references) <= set(ids)
    assert references


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [(("", "b", "https://c"), "license"), (("a", " ", "https://c"), "creator"), (("a", "b", "c"), "begin with https")],
)
def test_what_only_the_publisher_knows_is_required(fields: tuple[str, str, str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Publication(*fields)


def test_other_files_have_no_metadata() -> None:
    with pytest.raises(InputError, match=r"end in .csv or .parquet"):
        croissant(ODD, b"", "records.bif", sentences=[], publication=PUBLICATION, day=date(2026, 3, 31))


WORDS = ["--license", "CC0-1.0", "--creator", "A clinic", "--url", "https://example.org/table"]


@pytest.mark.parametrize("ending", WRITERS)
def test_the_command_writes_metadata_beside_the_records(tmp_path: Path, ending: str) -> None:
    file, out, metadata = tmp_path / "release.json", tmp_path / f"r{ending}", tmp_path / "r.croissant.json"
    file.write_bytes(released(tmp_path).document)
    assert main(["view", str(file), "--out", str(out), "--croissant", str(metadata), *WORDS]) == HOLDS
    content = json.loads(metadata.read_bytes())
    assert content["distribution"][0]["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert json.loads(file.read_bytes())["sentences"][0] in content["description"]


def test_the_command_refuses_metadata_that_do_not_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, metadata = tmp_path / "release.json", tmp_path / "r.json"
    file.write_bytes(released(tmp_path).document)
    for out, where, words, sentence in (
        ("r.csv", metadata, WORDS[2:], "needs the license"),
        ("r.bif", metadata, WORDS, "ends in .csv or .parquet"),
        ("r.csv", tmp_path / "r.csv", WORDS, "a separate file"),
        ("r.csv", tmp_path.parent / "r.json", WORDS, "a separate file"),
        ("r.csv", file, WORDS, "which this command reads"),
    ):
        assert main(["view", str(file), "--out", str(tmp_path / out), "--croissant", str(where), *words]) == REFUSED
        assert sentence in capsys.readouterr().err
        assert not (tmp_path / out).exists()
