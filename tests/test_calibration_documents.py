"""The measured numbers of the documents are the stored results of `python -m benchmarks.calibration`."""

import pytest

from benchmarks.calibration import DOCUMENTS, MEASURES, TABLES, joint_coverage, joint_settings, stored, table, written


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_has_the_stored_results(path):
    text = path.read_text(encoding="utf-8")
    assert "<!-- measured: " in text
    assert written(text, stored()) == text


def test_every_measurement_has_stored_results_and_a_table_in_one_document():
    texts = [path.read_text(encoding="utf-8") for path in DOCUMENTS]
    for name in MEASURES:
        lines = [line for line in stored() if line["measure"] == name]
        assert len(table(name, stored()).splitlines()) == len(lines) + 2 > 2
        assert all(line["seed"] == 1 and line["releases"] > 0 for line in lines)
        assert sum(f"<!-- measured: {name} -->" in text for text in texts) == 1
    assert set(TABLES) == set(MEASURES)


def test_a_measurement_yields_what_its_table_shows():
    (line,) = joint_coverage(joint_settings()[:1], releases=4)
    shown = table("joint", [{"measure": "joint", **line}]).splitlines()
    assert len(shown) == 3
    assert shown[2].count("±") == 4
