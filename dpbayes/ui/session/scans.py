"""What scans of a table that stays where it is have brought: counts of networks, and sums for a regression."""

import time
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

from dpbayes.base.steps import Work
from dpbayes.base.validation import InputError
from dpbayes.experiments.regression.records import OwnColumns
from dpbayes.experiments.regression.scenario import SummedRecords, summing
from dpbayes.model.counts import Counts, counting
from dpbayes.model.network import Network
from dpbayes.sources.columns import Column
from dpbayes.sources.engines.engine import DeclaredTable
from dpbayes.ui.session.connected import Connected, engine_of, in_sentences

Result = TypeVar("Result")

QUICK, PATIENCE = 1.0, 3.0
"""Seconds of a scan below which another network is counted unasked, and after which such a scan is given up."""

KEPT = 16
"""Scans that a session keeps."""

NOT_COUNTED = "The table is not counted for this network yet; press “Count the table” to scan it once."


@dataclass(frozen=True, eq=False)
class Scan(Generic[Result]):
    """What one scan brought: its result, or the sentence that refused it, and how many seconds it took."""

    result: Result | None
    seconds: float
    refused: str = ""


# Counts


def scan_key(mine: Connected, network: Network) -> Hashable:
    """Return what a scan depends on. Errors: InputError for columns in use without a domain."""
    return mine.number, mine.in_use, network


def scanning(mine: Connected, network: Network) -> Work[Counts]:
    """Scan the table once, in steps; steps that are closed end the scan in the engine. Errors: InputError."""
    with in_sentences("the table was counted"):
        return (yield from counting(network, DeclaredTable(engine_of(mine), mine.in_use)))


def scanned(key: Hashable) -> Scan[Counts] | None:
    """Return what this session knows of a scan."""
    return _scans().get(key)


def keep_scan(key: Hashable, scan: Scan[Counts]) -> None:
    """Keep what a scan brought; those that are oldest are forgotten."""
    kept = _scans()
    kept.pop(key, None)
    kept[key] = scan
    for old in list(kept)[:-KEPT]:
        del kept[old]


def forget_scans() -> None:
    """Forget all scans, and what was summed up: the table may have changed."""
    _scans().clear()
    forget_sums()


def _scans() -> dict[Hashable, Scan[Counts]]:
    scans: dict[Hashable, Scan[Counts]] = st.session_state.setdefault("connected.scans", {})
    return scans


def _of_table(mine: Connected) -> list[tuple[tuple[Column, ...], Scan[Counts]]]:
    return [(key[1], scan) for key, scan in _scans().items() if isinstance(key, tuple) and key[0] == mine.number]


def scanned_records(mine: Connected) -> int | None:
    """Return how many records the last scan of these columns counted, whatever the network; None before the first."""
    columns = mine.in_use
    sizes = [scan.result.n for used, scan in _of_table(mine) if scan.result is not None and used == columns]
    return sizes[-1] if sizes else None


def counts_of(mine: Connected, network: Network) -> Counts:
    """Return the counts of a network: those of an earlier scan, or of a new one where the last one was quick.

    Errors: InputError of the scan, and where one is to be asked for.
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
    """Scan at once; None where that takes longer than it was to."""
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


# Sufficient statistics of a regression


def sums_key(mine: Connected) -> Hashable:
    """Return what the sums for a regression depend on."""
    return mine.number, mine.own


def summing_up(mine: Connected, columns: OwnColumns) -> Work[SummedRecords]:
    """Scan the table once, in steps; steps that are closed end the scan in the engine. Errors: InputError."""
    with in_sentences("the sums of the table were computed"):
        return (yield from summing(engine_of(mine), columns))


def summed_up(mine: Connected) -> Scan[SummedRecords] | None:
    """Return what this session knows of the sums of the columns that are stated; None before they are scanned."""
    key, sums = st.session_state.get("connected.sums", (None, None))
    return sums if key == sums_key(mine) else None


def keep_sums(mine: Connected, sums: Scan[SummedRecords]) -> None:
    """Keep what a scan brought; it takes the place of the one before."""
    st.session_state["connected.sums"] = (sums_key(mine), sums)


def forget_sums() -> None:
    """Forget what was summed up."""
    st.session_state.pop("connected.sums", None)
