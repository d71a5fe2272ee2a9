"""What counting leaves behind: a password stands in its own file alone, and Spark writes no file anywhere near."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines.address import parsed
from dpbayes.sources.engines.table import DeclaredTable, open_table
from tests.engines.conftest import MARKS
from tests.engines.servers import Postgres, write_table

pytestmark = MARKS

ROOT = Path(__file__).parents[2]
ROWS = pa.table({"x": ["a", "b", "b"] * 10})
X = Categories("x", ("a", "b"), public=True)
NETWORK = dp.Network.from_edges(["x"], [], {"x": X.domain})


@pytest.fixture
def passfile(server: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that alone has the password of a server with the table `patients`."""
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.delenv("PGPASSFILE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with server.connect() as connection:
        write_table(connection, "patients", ROWS)
    path = tmp_path / "passwords"
    path.write_text(f"127.0.0.1:{server.port}:*:postgres:{server.password}\n")
    path.chmod(0o600)
    return path


@pytest.mark.parametrize("way", ["environment", "address"])
def test_a_password_comes_from_a_file_and_stands_nowhere_else(
    way: str,
    server: Postgres,
    passfile: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    address = server.address("patients")
    if way == "environment":
        monkeypatch.setenv("PGPASSFILE", str(passfile))
    else:
        address = address.replace("?", f"?passfile={passfile}&")
    engine = open_table(address)
    assert dp.count(NETWORK, DeclaredTable(engine, (X,))).values.tolist() == [10, 20]
    passfile.write_text(f"127.0.0.1:{server.port}:*:postgres:hunter2-{server.password}\n")
    with pytest.raises(InputError, match="rejects the password") as wrong:
        engine.types()
    passfile.write_text("")
    with pytest.raises(InputError, match="needs a password") as none:
        engine.types()
    texts = [repr(value) for value in (engine, parsed(address))]
    texts += [engine.title, str(wrong.value), str(none.value), caplog.text, *capfd.readouterr()]
    assert not [text for text in texts if server.password in text]


SPARK = """
import sys
import dpbayes as dp
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines.table import DeclaredTable, open_table, tables_of

x = Categories("x", ("a", "b"))
address = "spark:local[1]?table=" + sys.argv[1]
engine = open_table(address)
counts = dp.count(dp.Network.from_edges(["x"], [], {"x": x.domain}), DeclaredTable(engine, (x,)))
print(counts.values.tolist(), len(engine.types()), len(engine.head(3)))
print(engine.values("x", 5).to_dict())
print(tables_of("spark:local[1]"))
"""


def test_spark_writes_nothing_into_the_working_folder_and_the_tables(spark: Any, tmp_path: Path) -> None:
    work, table, home = (tmp_path / name for name in ("work", "table", "home"))
    for folder in (work, table, home):
        folder.mkdir()
    pq.write_table(ROWS, table / "rows.parquet")
    ran = subprocess.run(
        [sys.executable, "-c", SPARK, f'parquet."{table}"'],
        cwd=work,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), *sys.path)), "HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.splitlines() == ["[10, 20] 1 3", "{'b': 20, 'a': 10}", "()"]
    assert [place.name for place in tmp_path.rglob("*") if place.is_file()] == ["rows.parquet"]
    assert sorted(place.name for place in tmp_path.iterdir()) == ["home", "table", "work"]
    assert list(work.iterdir()) == []
