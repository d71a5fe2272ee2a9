"""Hypothesis profiles: `fast` by default, `thorough` with HYPOTHESIS_PROFILE=thorough. A folder of data to spoil."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from hypothesis import settings

from dpbayes.sources import named_networks as networks
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.shipped_regression import fulton_regression
from dpbayes.sources.shipped_tables import load_shipped

settings.register_profile("fast", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))


@pytest.fixture
def copied_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of the shipped data that the program reads instead, with nothing read before."""

    def forget() -> None:
        for cache in (load_named, load_shipped, fulton_regression):
            cache.cache_clear()
        st.cache_resource.clear()

    copy = tmp_path / "data"
    shutil.copytree(networks.DATA, copy)
    monkeypatch.setattr(networks, "DATA", copy)
    forget()
    yield copy
    forget()
