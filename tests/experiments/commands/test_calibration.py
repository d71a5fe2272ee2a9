"""The command prints a table, writes files with their settings, and refuses in one sentence."""

import json
import sys

import pandas as pd
import pyarrow.parquet as arrow_parquet
import pytest

from dpbayes.experiments.__main__ import main
from dpbayes.experiments.calibration import EPSILONS, combinations
from dpbayes.experiments.commands import calibration as command


@pytest.fixture
def two_settings(monkeypatch):
    """Two small settings instead of all, which the study's tests try."""
    monkeypatch.setattr(command, "combinations", lambda: combinations()[-1:])
    along = command.settings_along()
    monkeypatch.setattr(command, "settings_along", lambda: along[-1:])


def test_a_table_has_a_line_for_every_setting_and_way_to_read(two_settings, capsys):
    assert main(["calibration", "--releases", "5", "--seed", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + 2 * 2
    assert "two nodes, whole Laplace" in lines[1]
    assert "naive" in lines[1]
    assert "noise-aware" in lines[2]
    assert lines[3].split()[:5] == ["coverage", "against", "epsilon", "1000", "100"]
    assert lines[4].count("±") == 4


def test_files_carry_all_digits_and_the_settings(two_settings, tmp_path, capsys):
    for name in ("out.csv", "out.parquet"):
        assert main(["calibration", "--releases", "4", "--out", str(tmp_path / name)]) == 0
        assert capsys.readouterr().out == f"Written to {tmp_path / name}\n"
    read = pd.read_csv(tmp_path / "out.csv")
    stored = arrow_parquet.read_table(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(read, stored.to_pandas())
    assert read["releases"].tolist() == [4] * 4
    assert json.loads(stored.schema.metadata[b"dpbayes"]) == {"releases": 4, "seed": 1}


def test_the_picture_of_the_release_page_is_drawn_with_the_numbers_of_the_table(monkeypatch, tmp_path, capsys):
    """Of two of its epsilons, beside a setting that is not in it."""
    monkeypatch.setattr(command, "combinations", lambda: combinations()[-1:])
    along = command.settings_along()
    monkeypatch.setattr(command, "settings_along", lambda: along[:2])
    drawn, picture_of = [], command.picture_of
    monkeypatch.setattr(command, "picture_of", lambda study: drawn.append((study, picture_of(study))) or drawn[0][1])
    words = ["calibration", "--releases", "5", "--picture", str(tmp_path / "out.html"), "--out"]
    assert main([*words, str(tmp_path / "out.csv")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"Written to {tmp_path / 'out.csv'}",
        f"Picture written to {tmp_path / 'out.html'}",
    ]
    (study, figure), table = drawn[0], pd.read_csv(tmp_path / "out.csv").iloc[2:]
    for look in study.looks:
        (line,) = (trace for trace in figure.data if trace["name"] == look.name)
        rows = table[table["reading"] == look.name]
        assert list(line["x"]) == pytest.approx(rows["epsilon"].tolist(), rel=1e-15)  # pandas before 3.1 reads so near
        assert list(line["x"]) == [pytest.approx(epsilon) for epsilon in EPSILONS[:2]]
        assert list(line["y"]) == pytest.approx(rows["coverage of 95%"].tolist())
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "intervals that contain the true value" in page
    assert len(page) > 1_000_000, "Plotly is in the file"


def test_a_picture_without_plotly_is_refused_in_a_sentence_before_any_release_is_drawn(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    monkeypatch.setattr(command, "calibrate", lambda *_, **__: pytest.fail("releases were drawn"))
    assert main(["calibration", "--releases", "2", "--picture", str(tmp_path / "out.html")]) == 2
    sentence = 'A Plotly figure needs plotly, which is not installed here: pip install "dpbayes[app]".\n'
    assert capsys.readouterr().err == sentence


@pytest.mark.parametrize(
    "words", [["--releases", "1"], ["--seed", "x"], ["--out", "out.png"], ["--picture", "out.png"]]
)
def test_bad_input_is_one_sentence(words, capsys):
    assert main(["calibration", *words]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
