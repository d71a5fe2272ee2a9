"""The benchmark of servers runs, at a size too small to say anything of speed."""

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import servers
from tests.engines.servers import programs

# Spark leaves sockets of its own to the garbage collector.
pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]


def test_a_scan_of_postgresql_is_measured_beside_one_by_hand() -> None:
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: run `make engines`")
    if programs() is None:
        pytest.skip("PostgreSQL is not installed: run `make engines` as root, or install the package postgresql")
    assert_measured(servers.in_postgres)


def test_a_scan_of_spark_is_measured_beside_one_by_hand(spark: Any) -> None:
    assert_measured(servers.in_spark)


def assert_measured(loaded: Callable[..., Any]) -> None:
    records = servers.measured("a server", loaded, 2000, repeats=1)
    assert [r.name for r in records] == [
        f"a server, 2,000 records, {what}" for what in ("seconds", "peak", "processor")
    ]
    assert records[1].value > 5, "a server has more than a few megabytes"
    assert all(r.value > 0 and r.baseline_value and r.baseline_value > 0 for r in records)
