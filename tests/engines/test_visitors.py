"""The benchmark of visitors behind nginx runs, with too few visitors to say anything of speed."""

import pytest

from benchmarks import proxied
from tests.engines.proxied import NGINX

pytestmark = pytest.mark.engines


def test_visitors_open_pages_and_move_sliders_in_both_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    if NGINX is None:
        pytest.skip("nginx is not installed: run `make engines` as root, or install the package nginx")
    for name, value in (("MOVING", (4, 8)), ("MOVES", 2), ("FIRST_MOVES", 2), ("START_S", 0), ("LEFT_S", 0)):
        monkeypatch.setattr(proxied, name, value)
    measured = proxied.visitors(6)
    records = {record.name: record.value for record in measured}
    assert all(value > 0 for value in records.values())
    assert records["4 of them move once a second: largest share of moves in a process"] < 0.75
    assert not [name for name in records if name.startswith("8 of them")]
    assert len([name for name in records if name.startswith("memory of process")]) == 14
    assert {record.name: record.bound for record in measured if record.bound} == {
        "6 visitors open Explore at once: last": proxied.OPENING_S,
        "4 of them move once a second: 95%": proxied.SLOW_MS,
        **{f"memory of process {name} {proxied.AFTER}, beside": proxied.MOST_LEFT for name in ("one", "two")},
    }
