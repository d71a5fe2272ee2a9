"""An output of a command never destroys an input or the ledger, and one that cannot be written costs nothing."""

import errno
from pathlib import Path

import pytest

from dpbayes.__main__ import main
from dpbayes.releases import ledger
from dpbayes.releases.commands import charged
from dpbayes.releases.output import HOLDS, REFUSED
from dpbayes.releases.signing import key_file, make_key
from dpbayes.releases.verify import verify
from tests.releases.made import opened, written


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """A release without its output; every input is a file."""
    table, domains = written(tmp_path)
    arrows = tmp_path / "arrows.txt"
    arrows.write_text("rain -> grass")
    return [
        *("release", "--ledger", str(opened(tmp_path)), "--dataset", "garden", "--data", str(table)),
        *("--domains", str(domains), "--network", str(arrows), "--mechanism", "laplace", "--epsilon", "0.5"),
        "--graph-unseen",
    ]


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("option", ["--ledger", "--data", "--domains", "--network"])
def test_a_release_never_overwrites_what_it_reads(words, option, tmp_path, capsys):
    before = files_of(tmp_path)
    assert main([*words, "--out", words[words.index(option) + 1]]) == REFUSED
    assert "which this command reads" in capsys.readouterr().err
    assert files_of(tmp_path) == before, "and nothing was charged"


def test_a_release_replaces_a_file_by_force_only_and_never_a_private_key(words, tmp_path, capsys):
    path, out = tmp_path / "ledger.sqlite", tmp_path / "letter.txt"
    private = key_file(path, make_key(path, "Ann", reason="The first key.")[0].signer.key)
    out.write_text("Dear board")
    before = files_of(tmp_path)
    for refused in ([out], [private], [private, "--force"]):
        assert main([*words, "--out", *map(str, refused)]) == REFUSED
        assert "exists already" in (said := capsys.readouterr().err) or "is a private key" in said
    assert files_of(tmp_path) == before, "and nothing was charged"
    assert main([*words, "--out", str(out), "--force"]) == HOLDS
    assert verify(out.read_bytes()).holds
    for command in (
        ["ledger", "--ledger", str(path), "export", "5", "--out", str(tmp_path / "garden.csv")],
        ["view", str(out), "--out", str(tmp_path / "garden.csv")],
    ):
        assert main(command) == REFUSED
        assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "garden.csv").read_bytes() == before["garden.csv"]


@pytest.mark.parametrize(("name", "why"), [("none/release.json", "No such file"), ("", "is a folder")])
def test_an_output_that_cannot_be_written_costs_nothing(words, name, why, tmp_path, capsys):
    assert main([*words, "--out", str(tmp_path / name)]) == REFUSED
    assert why in capsys.readouterr().err
    assert not ledger.read_books(tmp_path / "ledger.sqlite").of("garden")


def test_a_release_that_cannot_be_written_after_all_is_kept_and_fetched_at_no_cost(
    words, tmp_path, capsys, monkeypatch
):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "ledger.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(charged, "write_output", full)
        assert main([*words, "--out", str(tmp_path / "release.json")]) == REFUSED
    said = capsys.readouterr().err
    (spending,) = ledger.read_books(path).of("garden")
    assert f"ledger export {spending.row} --out FILE" in said
    assert said.count("\n") == 1
    assert main([*words, "--out", str(tmp_path / "release.json")]) == HOLDS
    assert main(["ledger", "--ledger", str(path), "export", str(spending.row), "--out", str(tmp_path / "x")]) == HOLDS
    assert (tmp_path / "x").read_bytes() == (tmp_path / "release.json").read_bytes()
    assert ledger.read_books(path).account("garden").spent == spending.cost
