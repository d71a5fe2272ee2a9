"""Croissant metadata as MLCommons' own reader finds it: valid, and with the records of the file."""

import json
from pathlib import Path

import numpy as np
import pytest

from dpbayes.releases.views.files import records_frame
from tests.releases.views.test_croissant import ODD, WRITERS, described

pytestmark = [pytest.mark.interchange, pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize("ending", WRITERS)
def test_the_reader_finds_no_fault_and_reads_the_records(tmp_path: Path, ending: str) -> None:
    import mlcroissant

    content, metadata = described(ending)
    (tmp_path / f"records{ending}").write_bytes(content)
    (tmp_path / "croissant.json").write_text(json.dumps(metadata), encoding="utf-8")
    read = mlcroissant.Dataset(jsonld=tmp_path / "croissant.json")
    issues = read.metadata.ctx.issues
    assert not issues.errors
    assert not issues.warnings
    rows = [[value.decode() for value in record.values()] for record in read.records("records")]
    written = records_frame(ODD).astype(str).to_numpy()
    assert len(rows) == len(written)
    assert np.array(rows)[:, 1].tolist() == written[:, 1].tolist()
    (states,) = [[record["states-1/state"] for record in read.records("states-1")]]
    assert [state.decode() if isinstance(state, bytes) else state for state in states] == list(ODD.states[1])
