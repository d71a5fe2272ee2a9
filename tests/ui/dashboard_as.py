"""Serve the dashboard in one seat, over the real table or another one: `python -m tests.ui.dashboard_as`.

Every word is a seat, a table and a port, joined by colons. Each has a process of its own, a copy of the first one,
which has imported the dashboard.

The other table has the same columns, domains and number of records, and every column of it is shuffled. A mechanism
that is run on either is given the counts of a third table, with the same seed: all that is then different in what a
page sends is what it shows of the table beside the release. Closed parts of pages are open, and the browser is taken
to have requested what it draws while a slider moves.
"""

import functools
import importlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime import forward_msg_queue
from streamlit.runtime.app_session import AppSession
from streamlit.web import cli

from dpbayes.experiments.sampling import RowState
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS, Mechanism, Outcome
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.ui.pages import release_history as history
from dpbayes.ui.session import chosen
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets import show
from tests.releases.made_adaptive import drawn_with_a_generator

ROOT = Path(__file__).parents[2]
FIRST, OTHER = "first", "other"


def shuffled(data: Dataset) -> Dataset:
    """Return a table with the same columns, domains and number of records, and other records."""
    rng = np.random.default_rng(7)
    codes = np.stack([rng.integers(len(states), size=data.n) for states in data.states], axis=1)
    return replace(data, codes=codes.astype(data.codes.dtype))


@functools.lru_cache(maxsize=64)
def third_table(network: Network, n: int) -> Dataset:
    """Return a table that is neither of the two."""
    return sample_dataset(network, random_cpts(network, np.random.default_rng(3)), n, np.random.default_rng(4))


@functools.lru_cache(maxsize=64)
def third(network: Network, n: int) -> Counts:
    """Return its counts."""
    return count(network, third_table(network, n))


def _of_the_third(usual: Callable[..., Any]) -> Callable[..., Any]:
    def simulate(self: Any, counts: Any, *args: Any, **more: Any) -> Any:
        is_table = isinstance(counts, Counts) and counts.values.ndim == 1
        return usual(self, third(counts.network, counts.n) if is_table else counts, *args, **more)

    return simulate


def release_of_the_third() -> None:
    """Have every mechanism release the counts of the third table, whatever it is given."""
    for kind in MECHANISMS:
        kind.simulate = _of_the_third(kind.simulate)  # type: ignore[method-assign]
    for reading in OF_RECORDS:
        of_records = reading.simulate

        def release_records(self: Mechanism[Outcome], counts: Counts, *args: Any, **more: Any) -> Any:
            third_records = self.statistic(third_table(counts.network, counts.n))
            return of_records(self, third_records, *args, **more)  # noqa: B023 - of one mechanism

        reading.simulate = release_records  # type: ignore[method-assign]
    usual_sample = RowState.sample

    def sample(self: RowState, *args: Any) -> Any:
        return usual_sample(replace(self, alpha=1 + np.arange(len(self.alpha))), *args)

    RowState.sample = sample  # type: ignore[method-assign]


_folded = show.folded


@contextmanager
def unfolded(title: str, *, key: str) -> Iterator[bool]:
    """Show a part that can be closed as opened by the person: the headline depends on which parts are open."""
    st.session_state[key] = True
    with _folded(title, key=key):
        yield True


def main(*words: str) -> None:
    release_of_the_third()
    show.folded = unfolded  # before the pages are imported
    history.example = drawn_with_a_generator  # on each server another one
    # Every message is sent: none replaces, and no new run discards, one that has not left yet.
    forward_msg_queue._maybe_compose_delta_msgs = lambda *_: None
    AppSession._clear_queue = lambda *_, **__: None  # type: ignore[method-assign]
    Chosen.has_public_records = False  # type: ignore[assignment]  # of public ones, a page may show everything
    for module in ("data", "explore", "release"):
        importlib.import_module(f"dpbayes.ui.pages.{module}")
    servers = [server(*word.split(":")) for word in words]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        os.wait()  # none ends by itself
    finally:
        for process in servers:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGTERM)
                os.waitpid(process, 0)


def server(seat: str, table: str, port: str) -> int:
    """Begin a process that serves the dashboard, and return its number."""
    process = os.fork()
    if not process:
        serve(seat, table, port)
        os._exit(0)
    return process


def serve(seat: str, table: str, port: str) -> None:
    """Serve the dashboard until the process is stopped."""
    if table == OTHER:
        for name in ("_shipped", "sample_dataset"):
            usual = getattr(chosen, name)
            setattr(chosen, name, lambda *args, usual=usual, **more: shuffled(usual(*args, **more)))
    Settings.seat = property(lambda _: Seat(seat), lambda *_: None)  # type: ignore[assignment]  # whatever a link says
    words = ["run", str(ROOT / "app.py"), "--server.port", port, "--server.address", "127.0.0.1"]
    cli.main([*words, "--server.headless", "true"], prog_name="streamlit", standalone_mode=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
