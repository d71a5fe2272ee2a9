"""A file of DuckDB that a visitor names reads nothing outside the folder that the owner of a server named."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories
from dpbayes.sources.engines.address import parsed
from dpbayes.sources.engines.connect import opened
from dpbayes.sources.engines.table import DeclaredTable, open_table, tables_of

SECRET = "hunter2"
X = Categories("x", ("a", "b"))
NETWORK = dp.Network.from_edges(["x"], [], {"x": X.domain})

LATE = "coalesce(getvariable('place'), '{}')"
"""A place that is another one when the view is made: DuckDB makes no view of what it cannot read by then."""


@pytest.fixture(scope="module")
def strangers_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stranger's file below a root, with views of what lies outside, which all tests here only read."""
    tmp_path = tmp_path_factory.mktemp("stranger")
    root, outside = tmp_path / "root", tmp_path / "secret.csv"
    root.mkdir()
    pd.DataFrame({"x": ["a", "b", "b"]}).to_csv(root / "beside.csv", index=False)
    pd.DataFrame({"x": ["a", SECRET]}).to_csv(outside, index=False)
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute(f"create table t as select '{SECRET}' as x")
    (root / "link.csv").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    path = root / "file.duckdb"
    (root / "file.duckdb.tmp").symlink_to(tmp_path)
    views = {
        "beside": f"from read_csv('{root}/beside.csv')",
        "outside": f"from read_csv('{outside}')",
        "dots": f"from read_csv('{root}/../secret.csv')",
        "link": f"from read_csv('{root}/link.csv')",
        "linked folder": f"from read_csv('{root}/folder/secret.csv')",
        "each": f"from read_csv('{root}/*.csv')",
        "text": f"from (select content as x from read_text('{outside}'))",
        "bytes": f"from (select content::text as x from read_blob('{outside}'))",
        "names": f"from (select file as x from glob('{tmp_path}/*'))",
        "replaced": f"from '{outside}'",
        "query": f"from query('from ''{outside}''')",
        "macro": "from outside()",
        "database": f"from read_duckdb('{tmp_path}/other.duckdb', table_name := 't')",
        "room": f"from read_csv('{path}.tmp/secret.csv')",
        "relative": "from read_csv('secret.csv')",
        "home": f"from read_csv({LATE.format('~/.bashrc')})",
        "environment": f"from read_csv({LATE.format('/proc/self/environ')})",
        "web": f"from read_csv({LATE.format('http://127.0.0.1:1/x.csv')})",
        "bucket": f"from read_csv({LATE.format('s3://bucket/x.csv')})",
        "secrets": "from (select name as x from duckdb_secrets())",
        "log": f"from (select 'a' as x from enable_logging(storage := 'file', storage_path := '{tmp_path}/log'))",
    }
    with contextlib.chdir(tmp_path), duckdb.connect(str(path)) as database:
        database.execute("create table t as select unnest(['a', 'b', 'a']) as x")
        database.execute(f"create macro outside() as table from read_csv('{outside}')")
        database.execute(f"set variable place = '{outside}'")
        for name, text in views.items():
            database.execute(f'create view "{name}" as {text}')
    return path


@pytest.fixture
def stranger(strangers_file: Path) -> Iterator[Path]:
    """The stranger's file, and the working folder beside the secret."""
    with contextlib.chdir(strangers_file.parents[1]):
        yield strangers_file


def test_views_of_what_lies_outside_the_folder_are_refused_in_a_sentence(stranger: Path) -> None:
    names = {parsed(text).table[-1] for text in tables_of(f"duckdb:{stranger}")}
    outside = names - {"t", "beside", "secrets", "log"}
    assert len(outside) == 18
    for name in outside:
        table = open_table(f"duckdb:{stranger}?table={name}", stranger.parent)
        for ask in (table.types, lambda table=table: dp.count(NETWORK, DeclaredTable(table, (X,)))):
            with pytest.raises(InputError, match="a view may only use files in the data root") as refused:
                ask()
            assert SECRET not in str(refused.value)
            assert str(stranger.parent) not in str(refused.value)


def test_a_view_cannot_look_for_secrets_change_settings_or_write_a_file(stranger: Path) -> None:
    with pytest.raises(InputError, match="a view may only use files in the data root"):
        open_table(f"duckdb:{stranger}?table=secrets", stranger.parent).head(1)
    with pytest.raises(InputError, match="DuckDB could not answer"):
        open_table(f"duckdb:{stranger}?table=log", stranger.parent).head(1)
    names = {"root", "secret.csv", "other.duckdb"}
    assert {place.name for place in stranger.parent.parent.iterdir()} == names


def test_tables_and_views_of_files_beside_are_counted_within_the_folder(stranger: Path) -> None:
    for name, values in {"t": [2, 1], "main.t": [2, 1], "beside": [1, 2]}.items():
        table = open_table(f"duckdb:{stranger}?table={name}", stranger.parent)
        assert dp.count(NETWORK, DeclaredTable(table, (X,))).values.tolist() == values
    assert len(tables_of(f"duckdb:{stranger}", stranger.parent)) == 22


def test_somebodys_own_file_reads_what_its_views_name(stranger: Path) -> None:
    assert open_table(f"duckdb:{stranger}?table=outside").head(5)["x"].tolist() == ["a", SECRET]


def test_no_statement_of_a_session_within_a_folder_reads_outside_writes_or_takes_the_fence_away(stranger: Path) -> None:
    root = stranger.parent
    address = parsed(f"duckdb:{stranger}?table=t")
    for text in (
        f"attach '{root.parent}/other.duckdb' as o",
        f"from '{root.parent}/secret.csv'",
        f"copy (select 1) to '{root.parent}/new.csv'",
        "set enable_external_access = true",
        "set allowed_directories = ['/']",
        "set lock_configuration = false",
        "load httpfs",
        "install httpfs",
        "insert into t values ('a')",
        "select getenv('HOME')",
    ):
        with pytest.raises(InputError), opened(address, root) as connection:
            connection.raw_sql(text)
    assert {place.name for place in root.parent.iterdir()} == {"root", "secret.csv", "other.duckdb"}


@pytest.mark.parametrize("name", ["memory.duckdb", "system.v2.duckdb", "temp", 'it\'s a "file".db', "main.duckdb"])
def test_a_file_of_any_name_is_opened_within_a_folder(tmp_path: Path, name: str) -> None:
    with duckdb.connect(str(tmp_path / name)) as database:
        database.execute("create schema s; create table s.t as select 'a' as x; create view v as from s.t")
    for table in ("s.t", "v"):
        engine = open_table(f"duckdb:{tmp_path / name}?table={table}", tmp_path)
        assert dp.count(NETWORK, DeclaredTable(engine, (X,))).values.tolist() == [1, 0]
