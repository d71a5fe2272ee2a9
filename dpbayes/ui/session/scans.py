"""The results of scans of a connected table: counts for networks."""

import time
from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import streamlit as st

from dpbayes.base.steps import Work
from dpbayes.base.validation import InputError
from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.table import DeclaredTable
from dpbayes.ui.session.connected import Connected, answer, engine_of

Result = TypeVar("Result")

QUICK, PATIENCE = 1.0, 3.0
"""Seconds: after a scan faster than QUICK, another network is counted without a button; PATIENCE limits this scan."""

KEPT = 16
"""The number of scans that a session keeps."""

NOT_COUNTED = "The table is not counted for this network yet; press “Count the table” to scan it once."


@dataclass(frozen=True, eq=False)
class Scan(Generic[Result]):
    """The result of a scan, or the message of its error, and its duration in seconds."""

    result: Result | None
    seconds: float
    refused: str = ""


# Counts


def scan_key(mine: Connected, network: Network) -> Hashable:
    """Return the key of a scan: all its inputs. Errors: InputError for columns in use without a domain."""
    return mine.number, mine.in_use, network


def scanning(mine: Connected, network: Network) -> Work[Counts]:
    """Count the table, in steps. Errors: InputError."""
    table = DeclaredTable(engine_of(mine), mine.in_use)
    return (yield from answer("the table was counted", partial(count, network, table)))


def scanned(key: Hashable) -> Scan[Counts] | None:
    """Return a scan that this session keeps; None without it."""
    return _scans().get(key)


def keep_scan(key: Hashable, scan: Scan[Counts]) -> None:
    """Keep a scan, and drop the oldest scans."""
    kept = _scans()
    kept.pop(key, None)
    kept[key] = scan
    for old in list(kept)[:-KEPT]:
        del kept[old]


def forget_scans() -> None:
    """Drop all scans, because the table may have changed."""
    _scans().clear()


def _scans() -> dict[Hashable, Scan[Counts]]:
    scans: dict[Hashable, Scan[Counts]] = st.session_state.setdefault("connected.scans", {})
    return scans


def _of_table(mine: Connected) -> list[tuple[tuple[Column, ...], Scan[Counts]]]:
    return [(key[1], scan) for key, scan in _scans().items() if isinstance(key, tuple) and key[0] == mine.number]


def scanned_records(mine: Connected) -> int | None:
    """Return the number of records in the last scan of these columns, for any network; None before the first scan."""
    columns = mine.in_use
    sizes = [scan.result.n for used, scan in _of_table(mine) if scan.result is not None and used == columns]
    return sizes[-1] if sizes else None


def counts_of(mine: Connected, network: Network) -> Counts:
    """Return the counts of a network from an earlier scan, or from a new scan if the last one was quick.

    Errors: InputError of the scan, and if the person must start the scan.
    """
    key = scan_key(mine, network)
    scan = scanned(key)
    if scan is None:
        past = [scan.seconds for _, scan in _of_table(mine) if scan.result is not None]
        scan = _scan_now(mine, network) if past and past[-1] < QUICK else None
        if scan is None:
            raise InputError(NOT_COUNTED)
        keep_scan(key, scan)
    if scan.result is None:
        raise InputError(scan.refused)
    return scan.result


def _scan_now(mine: Connected, network: Network) -> Scan[Counts] | None:
    """Scan immediately; return None if this takes longer than PATIENCE."""
    begun, work = time.perf_counter(), scanning(mine, network)
    try:
        while time.perf_counter() - begun < PATIENCE:
            next(work)
    except StopIteration as end:
        return Scan(end.value, time.perf_counter() - begun)
    except InputError as error:
        return Scan(None, time.perf_counter() - begun, str(error))
    finally:
        work.close()
    return None
