"""A table of Asia, and stages that choose from few records."""

import math

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.mechanisms.adaptive import choices
from dpbayes.model.dataset import Dataset


@pytest.fixture
def _no_stage_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With so few records every stage would be hopeless; here all choices are made."""
    monkeypatch.setattr(choices, "HOPELESS", math.inf)


@pytest.fixture(scope="session")
def asia() -> Dataset:
    network, probabilities = dp.load_named("asia")
    return dp.sample_dataset(network, probabilities, 5000, np.random.default_rng(1))
