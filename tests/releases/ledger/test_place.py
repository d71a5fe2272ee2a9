"""Where a ledger is: paths and addresses, and what is said of an address without a server."""

import sys
from pathlib import Path

import pytest

from dpbayes.base.validation import InputError
from dpbayes.releases import ledger
from dpbayes.releases.commands.main import main

LEARN = "--dataset votes --data votes.csv --domains domains.json --epsilon 1 --out graph.edges"


def test_the_ledger_of_a_team_is_named_by_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "postgresql://ann@db.example:5433/privacy?sslmode=verify-full"
    for named in (address, Path(address), address.replace("postgresql:", "postgres:")):
        path = ledger.ledger_path(named)
        assert ledger.place_text(path) == address
        assert ledger.ledger_path(path) == path
    monkeypatch.setenv("DPBAYES_LEDGER", address)
    assert ledger.place_text(ledger.ledger_path()) == address
    assert not ledger.is_server(Path("postgresql"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://db.example",
        "postgresql:///privacy",
        "postgresql://h/d?table=votes",
        "postgresql:",
        "postgresql://h/",
    ],
)
def test_an_address_that_lacks_a_part_is_refused(address: str) -> None:
    with pytest.raises(InputError, match=r"^(Write the address of a shared ledger as|An address of PostgreSQL)"):
        ledger.ledger_path(address)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:sesame@h/d",
        "postgresql://h/d?password=sesame",
        "postgres://:sesame@h/d",
        "postgresql://ann%3Asesame@h/d",
    ],
)
def test_a_password_is_refused_and_never_repeated(address: str, tmp_path: Path, monkeypatch, capfd) -> None:
    for words in (
        ["ledger", "--ledger", address, "list"],
        ["ledger", "move", "--to", address],
        ["verify", __file__, "--ledger", address],
        ["learn", "--ledger", address, *LEARN.split()],
    ):
        assert main(words) != 0
    monkeypatch.setenv("DPBAYES_LEDGER", address)
    assert main(["ledger", "list"]) == 2
    out, err = capfd.readouterr()
    assert "must not contain a password" in err
    assert "sesame" not in out + err


@pytest.mark.parametrize("kind", ["POSTGRESQL", "postgresql+psycopg", "mysql"])
def test_another_kind_of_address_is_no_path_of_a_file(kind: str, tmp_path: Path, monkeypatch, capfd) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        main(["ledger", "--ledger", f"{kind}://ann:sesame@h/d", "open", "votes", "--budget", "1", "--reason", "None."])
        == 2
    )
    out, err = capfd.readouterr()
    assert "Write the address of a shared ledger as" in err
    assert "sesame" not in out + err
    assert not list(tmp_path.iterdir())


def test_without_the_driver_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for words in (["list"], ["check"], ["open", "votes", "--budget", "1", "--reason", "None."]):
        assert main(["ledger", "--ledger", "postgresql://ann@db.example/privacy", *words]) == 2
        assert capsys.readouterr().err.splitlines() == [
            'PostgreSQL needs a driver that is not installed: pip install "dpbayes[postgres]".'
        ]


def test_a_file_is_moved_to_a_file_by_command(path: Path, tmp_path: Path, capsys) -> None:
    target = tmp_path / "new.sqlite"
    head = ledger.check(path).head
    assert main(["ledger", "--ledger", str(path), "move", "--to", str(target)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"All 2 rows are in {target}, with the same contents.",
        f"The hash of the last row is {head}",
        f"{path} can still be read but accepts no more rows. Use the new ledger from now on.",
    ]
    assert main(["ledger", "--ledger", str(path), "raise", "votes", "--budget", "2", "--reason", "More."]) == 2
    assert f"This ledger was moved in row 3 and accepts no more rows. It is now {target}." in capsys.readouterr().err
    assert main(["ledger", "--ledger", str(target), "raise", "votes", "--budget", "2", "--reason", "More."]) == 0
    assert ledger.account_of(path, "votes").budget == 1
    assert ledger.account_of(target, "votes").budget == 2
