"""Real releases from the command line: every command, its exit code, and what it writes."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpbayes.__main__ import main
from dpbayes.base.amounts import EpsilonDelta, amount_text, rho_of
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts
from dpbayes.releases import ledger, publishing
from dpbayes.releases.document import read_document
from dpbayes.releases.output import FAILS, HOLDS, REFUSED
from dpbayes.releases.publishing import publish
from dpbayes.sources.bif import read_bif, write_bif
from dpbayes.sources.domains import write_domains
from tests.releases import made
from tests.releases.made import CSV, NETWORK, opened, opened_in_rho, written


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    """The words of a release whose files and budget are there."""
    table, domains = written(tmp_path)
    path = opened(tmp_path)
    return [
        *("release", "--ledger", str(path), "--dataset", "garden", "--data", str(table), "--domains", str(domains)),
        *("--network", "rain -> grass", "--mechanism", "laplace", "--epsilon", "0.5"),
        *("--out", str(tmp_path / "release.json")),
    ]


@pytest.fixture
def file(words: list[str], tmp_path: Path) -> Path:
    assert main([*words, "--graph-unseen"]) == HOLDS
    return tmp_path / "release.json"


def test_a_column_that_is_declared_without_missing_values_needs_no_rule(words, tmp_path) -> None:
    """Four of the sixty records lack a value: none is left out, no state is added, and the document says so."""
    columns = [replace(column, domain=replace(column.domain, missing=None)) for column in made.COLUMNS]
    (tmp_path / "domains.json").write_text(write_domains(columns), encoding="utf-8")
    assert "missing" not in (tmp_path / "domains.json").read_text(encoding="utf-8")
    assert main([*words, "--graph-unseen"]) == HOLDS
    request = read_document((tmp_path / "release.json").read_bytes()).request
    assert request.n == 60
    assert request.network.states == (("no", "yes"), ("dry", "wet"))
    assert request.missing == {"rain": "no", "grass": "dry"}


def test_the_graph_of_a_file_is_released(words, tmp_path):
    file = tmp_path / "graph.bif"
    file.write_text(write_bif(NETWORK, random_cpts(NETWORK, np.random.default_rng(1))))
    at = words.index("--network")
    assert main([*words[:at], "--network", str(file), *words[at + 2 :], "--graph-unseen"]) == HOLDS
    assert read_document((tmp_path / "release.json").read_bytes()).request.network == NETWORK


def test_a_release_is_written_with_its_four_sentences_and_shown_again_for_nothing(words, tmp_path, capsys):
    assert main([*words, "--graph-unseen"]) == HOLDS
    said = capsys.readouterr()
    assert "60 records of the dataset garden" in said.out
    assert "The remaining budget is 1.5 of 2." in said.out
    first = (tmp_path / "release.json").read_bytes()
    assert main([*words, "--graph-unseen"]) == REFUSED
    assert "exists already" in capsys.readouterr().err
    assert main([*words, "--graph-unseen", "--force"]) == HOLDS
    said = capsys.readouterr()
    assert "written again at no cost" in said.err
    assert "The remaining budget is 1.5" in said.out
    assert (tmp_path / "release.json").read_bytes() == first
    assert main([*words, "--graph-unseen", "--again", "--force"]) == HOLDS
    assert "The remaining budget is 1" in capsys.readouterr().out
    assert (tmp_path / "release.json").read_bytes() != first


@pytest.mark.parametrize(
    ("mechanism", "option", "prior"),
    [
        ("laplace", None, ("1",) * 3 + ("0.4444444444444444",) * 9),  # 4/9 of a node with nine cells
        ("laplace", "capped:3", ("1",) * 3 + ("0.3333333333333333",) * 9),
        ("laplace", "0.30", ("0.3",)),
        ("map", None, ("1",)),
    ],
)
def test_the_prior_is_capped_or_stated(words, mechanism, option, prior, tmp_path):
    words[words.index("--mechanism") + 1] = mechanism
    more = [] if option is None else ["--prior", option]
    assert main([*words, "--graph-unseen", *more]) == HOLDS
    data = (tmp_path / "release.json").read_bytes()
    request = read_document(data).request
    assert request.prior == prior
    assert request.dirichlets.alpha.tolist() == [float(text) for text in np.resize(prior, 12)]
    assert main(["verify", str(tmp_path / "release.json")]) == HOLDS


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ([], "--graph-unseen"),
        (["--graph-unseen", "--epsilon", "banana"], "decimal"),
        (["--graph-unseen", "--epsilon", "3"], "budget"),
        (["--graph-unseen", "--prior", "uniform"], "State a pseudo-count such as 1, or capped or bdeu"),
        (["--graph-unseen", "--dataset", "forest"], "no dataset"),
        (["--graph-unseen", "--network", "rain -> snow"], 'no column "snow"'),
        (["--graph-unseen", "--mechanism", "fourier"], "binary|two states"),
        (["--graph-unseen", "--data", "nowhere.csv"], "data: nowhere.csv cannot be read"),
    ],
)
def test_what_cannot_be_released_is_one_sentence_and_costs_nothing(words, more, why, tmp_path, capsys):
    refused([*words, *more], why, tmp_path, capsys)


def test_domains_that_were_read_from_the_records_are_not_released(words, tmp_path, capsys):
    columns = [replace(column, domain=replace(column.domain, public=False)) for column in made.COLUMNS]
    (tmp_path / "domains.json").write_text(write_domains(columns), encoding="utf-8")
    refused([*words, "--graph-unseen"], "read from the records", tmp_path, capsys)


def test_an_unknown_command_is_refused_with_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["relase"])
    assert 'no command "relase"; did you mean release?; the commands are release, adaptive,' in capsys.readouterr().err


def refused(words, why, tmp_path, capsys):
    """Check that a command is refused in one sentence about this, and nothing is charged; return the sentence."""
    assert main(words) == REFUSED
    said = capsys.readouterr().err
    assert pd.Series([said]).str.contains(why)[0], said
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert main(["ledger", "list", "--ledger", str(tmp_path / "ledger.sqlite")]) == HOLDS
    assert "budget is 2 of 2" in capsys.readouterr().out
    return said


def test_a_release_is_verified_and_a_changed_one_is_not(file, tmp_path, capsys):
    path = str(tmp_path / "ledger.sqlite")
    assert main(["verify", str(file), "--ledger", path]) == HOLDS
    assert "contains this release" in capsys.readouterr().out
    changed = tmp_path / "changed.json"
    changed.write_bytes(file.read_bytes().replace(b'"n":60', b'"n":61'))
    assert main(["verify", str(changed)]) == FAILS
    assert "FAILS" in capsys.readouterr().out
    other = opened(tmp_path / "other") if (tmp_path / "other").mkdir() is None else None
    assert main(["verify", str(file), "--ledger", str(other)]) == FAILS


def test_the_ledger_is_opened_raised_listed_checked_and_exported(tmp_path, file, capsys):
    path = ["ledger", "--ledger", str(tmp_path / "ledger.sqlite")]
    assert main([*path, "open", "forest", "--budget", "1", "--reason", "another table"]) == HOLDS
    assert main([*path, "raise", "forest", "--budget", "1.5", "--reason", "a second question"]) == HOLDS
    assert main([*path, "raise", "forest", "--budget", "1", "--reason", "less"]) == REFUSED
    assert main([*path, "check"]) == HOLDS
    capsys.readouterr()
    assert main([*path, "list"]) == HOLDS
    listed = capsys.readouterr().out
    assert "budget is 1.5 of 1.5" in listed
    row = next(line.split()[1].rstrip(",") for line in listed.splitlines() if "released" in line and "row" in line)
    assert main([*path, "export", row, "--out", str(tmp_path / "again.json")]) == HOLDS
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_gaussian_noise_is_released_from_a_budget_in_rho(words, tmp_path, capsys):
    file = tmp_path / "ledger.sqlite"
    path = ["ledger", "--ledger", str(file)]
    gaussian = [*words, "--force", "--graph-unseen", "--mechanism", "gaussian", "--delta", "1e-5"]
    assert main(gaussian) == REFUSED
    assert "is in pure ε" in capsys.readouterr().err
    for wrong in ([*gaussian, "--mechanism", "laplace"], gaussian[:-2]):
        assert main([*wrong, "--dataset", "stated"]) == REFUSED, wrong
    budget = ["stated", "--budget", "1", "--delta", "1e-5", "--reason", "both"]
    assert main([*path, "open", *budget]) == HOLDS
    assert main([*path, "raise", "stated", "--budget", "5", "--reason", "in epsilon"]) == REFUSED
    assert main([*gaussian, "--dataset", "stated"]) == HOLDS
    assert main(["verify", str(tmp_path / "release.json"), "--ledger", str(file)]) == HOLDS
    rho = EpsilonDelta(Fraction(1, 2), Fraction(1, 10**5)).rho
    assert ledger.read_books(file).account("stated").released == rho
    assert main([*words, "--force", "--graph-unseen", "--dataset", "stated", "--epsilon", "0.1"]) == HOLDS
    assert ledger.read_books(file).account("stated").released == rho + rho_of(Fraction(1, 10))
    capsys.readouterr()
    assert main([*path, "list"]) == HOLDS
    assert f"epsilon 0.1, which costs rho {amount_text(rho_of(Fraction(1, 10)))}, released" in capsys.readouterr().out


def test_a_ledger_without_its_last_rows_is_known_by_a_hash_kept_elsewhere(tmp_path, capsys):
    """The write-ahead log holds the newest rows when a program was killed: without it a copy is an older ledger."""
    path = opened(tmp_path)
    with closing(sqlite3.connect(path)) as killed:
        killed.execute("SELECT count(*) FROM event").fetchone()  # while one looks on, nobody tidies up
        ledger.raise_budget(path, "garden", Fraction(3), reason="the newest row")
        assert Path(f"{path}-wal").stat().st_size
        alone, whole = tmp_path / "alone", tmp_path / "whole"
        for folder, files in ((alone, [path]), (whole, [path, Path(f"{path}-wal")])):
            folder.mkdir()
            for file in files:
                shutil.copy(file, folder)
    assert main(["ledger", "--ledger", str(whole / path.name), "check"]) == HOLDS
    said = capsys.readouterr().out
    assert "All 3 rows" in said
    kept = said.rpartition(" ")[2].strip()
    assert main(["ledger", "--ledger", str(whole / path.name), "check", "--seen", kept]) == HOLDS
    capsys.readouterr()
    assert main(["ledger", "--ledger", str(alone / path.name), "check"]) == HOLDS
    assert "All 2 rows" in capsys.readouterr().out, "the copy is whole in itself, and older"
    assert main(["ledger", "--ledger", str(alone / path.name), "check", "--seen", kept]) == REFUSED
    assert "its last rows were removed" in capsys.readouterr().err


def test_no_view_is_made_of_what_does_not_verify(file, tmp_path, capsys):
    file.write_bytes(file.read_bytes().replace(b'"n":60', b'"n":61'))
    assert main(["view", str(file), "--out", str(tmp_path / "view.bif")]) == REFUSED
    assert "does not verify" in capsys.readouterr().err
    assert not (tmp_path / "view.bif").exists()
    assert main(["view", str(file), "--out", str(tmp_path / "view.doc")]) == REFUSED


# Tables in an engine


@pytest.fixture
def engine(tmp_path: Path) -> str:
    """The address of a database that has the garden's table."""
    file = tmp_path / "garden.duckdb"
    with duckdb.connect(str(file)) as database:
        database.execute("create table garden (rain text, grass text)")
        rows = [line.split(",") for line in CSV.splitlines()[1:]]
        database.executemany("insert into garden values (nullif(?, ''), ?)", rows)
    return f"duckdb:{file}?table=garden"


def of_source(words: list[str], engine: str) -> list[str]:
    place = words.index("--data")
    return [*words[:place], "--source", engine, *words[place + 2 :]]


def test_a_release_of_an_engines_counts_is_one_of_the_same_table(words, engine, tmp_path, monkeypatch, capsys):
    published: list[Counts] = []
    monkeypatch.setattr(
        publishing, "publish", lambda *given, **more: published.append(given[2]) or publish(*given, **more)
    )
    assert main([*of_source(words, engine), "--graph-unseen"]) == HOLDS
    said = capsys.readouterr()
    assert ledger.RECORDS_ELSEWHERE in said.err
    assert "60 records of the dataset garden" in said.out
    assert published[0].values.tolist() == made.counts().values.tolist()
    release = tmp_path / "release.json"
    assert main(["verify", str(release), "--ledger", str(tmp_path / "ledger.sqlite")]) == HOLDS
    assert main([*words, "--force", "--graph-unseen"]) == HOLDS
    assert "written again at no cost" in capsys.readouterr().err, "the file has the same table"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("postgresql://reader:hunter2@db/clinic?table=t", "must not contain a password"),
        ("duckdb:/nowhere/at/all.duckdb?table=t", "all.duckdb"),
        ("clinic", "An address begins with"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_sentence(words, address, why, tmp_path, capsys):
    said = refused([*of_source(words, address), "--graph-unseen"], why, tmp_path, capsys)
    assert "hunter2" not in said


# adaptive


@pytest.fixture
def adapting(words: list[str], tmp_path: Path) -> list[str]:
    """The words that make an adaptive release of the same table, from a budget in rho."""
    path = tmp_path / "rho" / "ledger.sqlite"
    path.parent.mkdir()
    opened_in_rho(path.parent)
    usual = words[1 : words.index("--network")]
    usual[usual.index("--ledger") + 1] = str(path)
    return ["adaptive", *usual, "--epsilon", "2", "--delta", "1e-5", "--out", str(tmp_path / "release.json")]


def test_an_adaptive_release_is_made_verified_viewed_and_written_again_for_nothing(adapting, tmp_path, capsys):
    file, path = tmp_path / "release.json", adapting[adapting.index("--ledger") + 1]
    assert main(adapting) == HOLDS
    said = capsys.readouterr().out
    assert "chosen privately from 60 records" in said
    first = file.read_bytes()
    assert main([*adapting, "--force"]) == HOLDS
    assert "written again at no cost" in capsys.readouterr().err
    assert file.read_bytes() == first
    assert main(["verify", str(file), "--ledger", path]) == HOLDS
    records, network = tmp_path / "records.csv", tmp_path / "network.bif"
    assert main(["view", str(file), "--out", str(records), "--records", "30", "--seed", "1"]) == HOLDS
    assert len(records.read_text().splitlines()) == 31
    assert main(["view", str(file), "--out", str(network)]) == HOLDS
    assert read_bif(network.read_text())[0].names == ("rain", "grass")


def test_an_adaptive_release_without_delta_is_pure(words: list[str], tmp_path, capsys):
    usual = words[1 : words.index("--network")]
    file = tmp_path / "release.json"
    assert main(["adaptive", *usual, "--epsilon", "0.2", "--target", "grass", "--out", str(file)]) == HOLDS
    assert read_document(file.read_bytes()).request.plan.target == "grass"
    assert read_document(file.read_bytes()).content["certificate"]["epsilon"] == "1/5"
    assert main(["verify", str(file)]) == HOLDS
