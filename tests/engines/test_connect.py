"""A server of Spark Connect counts as Spark on this machine does."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.sources.columns import Categories, Cuts
from dpbayes.sources.engines.table import DeclaredTable, open_table
from tests.engines.conftest import MARKS

pytestmark = MARKS

X = Categories("x", ("a", "b"))
Y = Cuts("y", (10,))
NETWORK = dp.Network.from_edges(["x", "y"], [("x", "y")], {"x": X.domain, "y": Y.domain})
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def connect() -> Iterator[str]:
    """The address of a server of Spark Connect."""
    pyspark: Any = pytest.importorskip("pyspark", reason="Spark is not installed: run `make engines`")
    pytest.importorskip("grpc_status", reason="Spark Connect is not installed: run `make engines`")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Java is not installed: run `make engines` as root, or install the package default-jre-headless")
    home = Path(pyspark.__file__).parent
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.connect.grpc.binding.port": port,
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    words = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    server = subprocess.Popen(
        [str(home / "bin" / "spark-submit"), "--master", "local[2]", *words, "--class", SERVER],
        env=os.environ | {"SPARK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while not _listens(port):
            assert server.poll() is None, "the server did not start"
            time.sleep(0.2)
        yield f"spark:sc://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def test_a_server_of_spark_connect_counts_and_reports_its_faults(connect: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": ["a", "b", "b"] * 10, "y": list(range(30))}), tmp_path / "rows.parquet")
    engine = open_table(f'{connect}?table=parquet."{tmp_path}/rows.parquet"')
    assert list(engine.types()) == ["x", "y"]
    assert dp.count(NETWORK, DeclaredTable(engine, (X, Y))).values.tolist() == [10, 20, 4, 6, 6, 14]
    fewer = Categories("x", ("a",))
    with pytest.raises(InputError, match='"x" in 20 records'):
        dp.count(dp.Network.from_edges(["x"], [], {"x": fewer.domain}), DeclaredTable(engine, (fewer,)))
    with pytest.raises(InputError, match='Spark has no table "nobody"'):
        open_table(f"{connect}?table=nobody").types()
