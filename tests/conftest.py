"""Two profiles, `fast` by default, `thorough` with HYPOTHESIS_PROFILE=thorough, and what each tries. Data to spoil."""

import functools
import gc
import itertools
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
import streamlit as st
from hypothesis import settings
from streamlit.components.v2 import manifest_scanner

from dpbayes.sources import data_files
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.shipped_tables import load_shipped, shipped_domains, shipped_regression
from dpbayes.ui.session import roles
from dpbayes.ui.session.graphs import graph_of

settings.register_profile("fast", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=1000, deadline=None)
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "fast")
settings.load_profile(PROFILE)
IS_THOROUGH = PROFILE == "thorough"

# What pytest-xdist starts inherits it: workers have a core each, and threads of one would wait for those of the others.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Every run of a page has a thread of its own. The C library would give each an arena that keeps what is freed in it.
os.environ.setdefault("MALLOC_ARENA_MAX", "1")

# No test opens the ledger of the person who runs it; each that needs one says where.
os.environ["DPBAYES_LEDGER"] = str(Path(tempfile.gettempdir()) / f"dpbayes-tests-{os.getpid()}" / "ledger.sqlite")

FAR = 6.2
"""Standard errors that chance exceeds with probability below 1e-9."""

Case = TypeVar("Case")
First = TypeVar("First")
Second = TypeVar("Second")


def thorough(every: Iterable[Case], *, sample: Iterable[Case]) -> list[Case]:
    """Return every case under the profile `thorough`, else the sample, which must be of the same kind and not empty."""
    cases, fewer = list(every), list(sample)
    assert fewer, "a test without a case proves nothing"
    assert all(case in cases for case in fewer), "what is tried by default is tried under `thorough` too"
    return cases if IS_THOROUGH else fewer


def crossed(first: Sequence[First], second: Sequence[Second], *, times: int) -> list[tuple[First, Second]]:
    """Return all pairs under `thorough`; else so few that each member of the longer list is in just `each` of them."""
    shift = max(1, min(len(first), len(second)) // times)
    places = [(k, k + step * shift) for k in range(max(len(first), len(second))) for step in range(times)]
    return thorough(
        itertools.product(first, second), sample=[(first[i % len(first)], second[j % len(second)]) for i, j in places]
    )


def pytest_collection_finish() -> None:
    """Tell the garbage collector that what the tests are made of stays: it would go through it all the time.

    What caches keep it goes through, too, and seldom: there is hardly more to find than in what is new.
    """
    gc.freeze()
    gc.set_threshold(*gc.get_threshold()[:2], 100)


def pytest_unconfigure() -> None:
    """Let the interpreter end what was kept: connections that outlive it would be told of as leaks."""
    gc.unfreeze()


@pytest.fixture(autouse=True, scope="session")
def components_scanned_once() -> Iterator[None]:
    """Every AppTest makes Streamlit read the metadata of all installed packages, which takes longer than most pages."""
    scan = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(autouse=True)
def curator(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page without a server has no connection, and whoever has none is a visitor: tests are the curator."""
    monkeypatch.setattr(roles, "of_connection", lambda: roles.OWNER)
    monkeypatch.setenv(roles.TOKEN, "")  # the command's own start sets it


@pytest.fixture
def copied_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shipped data that the program reads instead, with nothing read before."""

    def forget() -> None:
        for cache in (load_named, load_shipped, shipped_regression, shipped_domains, graph_of):
            cache.cache_clear()
        st.cache_resource.clear()

    copy = tmp_path / "data"
    shutil.copytree(data_files.DATA, copy)
    monkeypatch.setattr(data_files, "DATA", copy)
    forget()
    yield copy
    forget()
