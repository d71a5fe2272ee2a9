"""A real PostgreSQL of the tests' own, in a temporary folder, that is killed and started again at will."""

import io
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

DEBIANS = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class Postgres:
    """A server that listens on this machine, wants passwords, and has the users `postgres` and `reader`."""

    programs: Path
    folder: Path
    port: int
    password: str

    def address(self, table: str = "", user: str = "postgres", database: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}" + (f"?table={table}" if table else "")

    def run(self, program: str, *words: str) -> None:
        as_owner = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        subprocess.run(
            [*as_owner, str(self.programs / program), "-D", str(self.folder / "data"), *words],
            check=True,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
        )

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        self.run("pg_ctl", "-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "-m", "immediate", "stop")

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="postgres",
            password=self.password,
            dbname="postgres",
            autocommit=True,
        )


def programs() -> Path | None:
    """Return where PostgreSQL's programs are, Debian's or those on the path."""
    versions = sorted(DEBIANS.glob("*/bin"), key=lambda path: float(path.parent.name))
    by_path = shutil.which("initdb")
    return versions[-1] if versions else Path(by_path).parent if by_path else None


@contextmanager
def postgres(folder: Path, where: Path) -> Iterator[Postgres]:
    """Start a server in a folder, and end it after."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Postgres(where, folder, port, secrets.token_urlsafe(12))
    word = folder / "password"
    word.write_text(server.password)
    if os.getuid() == 0:
        for path in (folder, word):
            shutil.chown(path, "postgres")
    server.run("initdb", "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--no-sync")
    server.start()
    try:
        yield server
    finally:
        server.stop()


_TYPES = {
    "string": "text",
    "large_string": "text",
    "bool": "boolean",
    "double": "double precision",
    "float": "real",
    "int8": "smallint",
    "int16": "smallint",
    "int32": "integer",
    "int64": "bigint",
    "date32[day]": "date",
    "decimal128(9, 2)": "numeric(9, 2)",
}


def write_table(connection: Any, name: str, table: pa.Table) -> None:
    """Write a table of PostgreSQL anew."""
    from psycopg import sql

    columns = [
        sql.SQL("{} {}").format(sql.Identifier(field.name), sql.SQL(_TYPES[str(field.type)])) for field in table.schema
    ]
    own = sql.Identifier(name)
    connection.execute(sql.SQL("drop table if exists {}").format(own))
    connection.execute(sql.SQL("create table {} ({})").format(own, sql.SQL(", ").join(columns)))
    into = sql.SQL("copy {} from stdin with (format csv)").format(own)
    with connection.cursor() as cursor, cursor.copy(into) as copy:
        for batch in table.to_batches(max_chunksize=100_000):
            text = io.BytesIO()  # an empty text is in quotes, NULL is not
            csv.write_csv(batch, text, csv.WriteOptions(include_header=False))
            copy.write(text.getvalue())
