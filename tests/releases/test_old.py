"""Documents and a ledger that earlier versions of the program wrote, in `old`, stay readable and verify as before.

The files without `signed` in their names are from 24 November 2026, before releases were signed, except the adaptive
one (25 November). Never write them anew: a file that fails here is a file of somebody that fails.
"""

import gzip
import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpbayes.releases import ledger
from dpbayes.releases.commands.main import main
from dpbayes.releases.document.signature import NOT_SIGNED, read_public_key
from dpbayes.releases.signing import ledger_keys
from dpbayes.releases.verify import verify

OLD = Path(__file__).with_name("old")
UNSIGNED = sorted(path.stem for path in OLD.glob("*.json") if "signed" not in path.stem)
SIGNED = {"laplace-signed": "key", "adaptive-signed": "key", "adaptive-pure-signed": "key-of-another-ledger"}


def failures(name: str, key: str = "") -> list[str]:
    public = read_public_key((OLD / f"{key}.pem").read_bytes()) if key else None
    return [check.sentence for check in verify((OLD / f"{name}.json").read_bytes(), public).checks if not check.holds]


def test_every_kind_of_document_is_there() -> None:
    mechanisms = {"laplace", "map", "consistent", "gaussian", "gaussian-stated", "residuals"}
    assert set(UNSIGNED) == mechanisms | {"learnt", "graph", "adaptive"}
    assert {path.stem for path in OLD.glob("*.json")} == {*UNSIGNED, *SIGNED}


@pytest.mark.parametrize("name", UNSIGNED)
def test_an_old_document_verifies_and_is_said_to_be_not_signed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "signature" not in json.loads((OLD / f"{name}.json").read_bytes())
    assert failures(name) == []
    assert main(["verify", str(OLD / f"{name}.json")]) == 0
    assert NOT_SIGNED in capsys.readouterr().out
    (sentence,) = failures(name, key="key")
    assert sentence.startswith("The release is not signed, or its signature was removed.")


@pytest.mark.parametrize("name", sorted({*UNSIGNED, *SIGNED} - {"graph"}))
def test_an_old_document_has_its_views(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for view in ("report.html", "network.bif", "records.csv"):
        assert main(["view", str(OLD / f"{name}.json"), "--out", str(tmp_path / view)]) == 0
    assert (NOT_SIGNED in (tmp_path / "report.html").read_text(encoding="utf-8")) is (name in UNSIGNED)
    assert ("Signed by" in capsys.readouterr().out) is (name in SIGNED)


@pytest.mark.parametrize("name", SIGNED)
def test_an_old_signature_is_confirmed_by_its_key_alone(name: str) -> None:
    pytest.importorskip("cryptography", reason='run pip install "dpbayes[sign]"')
    (other,) = {*SIGNED.values()} - {SIGNED[name]}
    assert failures(name) == failures(name, key=SIGNED[name]) == []
    (sentence,) = failures(name, key=other)
    assert "not the given key" in sentence


def test_an_old_ledger_is_read_checked_charged_and_has_the_old_releases(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(gzip.decompress((OLD / "ledger.sqlite.gz").read_bytes()))
    assert ledger.check(path).rows == 21
    before = {account.dataset: account.spent for account in ledger.accounts(path)}
    assert before == {"garden": Fraction(9, 4), "garden-rho": Fraction(10406327, 10000000)}
    spendings = [spending for name in before for spending in ledger.spendings(path, name)]
    released = {ledger.outcome(path, spending.row) for spending in spendings if spending.release}
    assert released == {(OLD / f"{name}.json").read_bytes() for name in UNSIGNED if name != "adaptive"}
    assert ledger_keys(path) == ()
    assert ledger.accesses(path) == ()
    ledger.record_access(path, "ada", "read the ledger")
    ledger.spend(path, "garden", Fraction(1, 4), b"a new question", lambda: b"outcome")
    assert ledger.account_of(path, "garden").spent == Fraction(5, 2)
    assert ledger.check(path).rows == 23
