"""Every mechanism at every choice of its parameters: what the contract tests run over."""

from collections.abc import Mapping
from enum import Enum
from itertools import product

import numpy as np
import pytest

from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.mechanisms import MECHANISMS, Calibration, PosteriorSampler
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.strategies import ASIA


def typical_settings(kind: type) -> list[dict]:
    """One dictionary of parameters for every combination of choices, numbers at their typical values.

    The printed sampler has nothing to draw from at a typical epsilon: it gets a larger one.
    """
    values = {
        name: [note.typical] if isinstance(note, Parameter) else list(note.options)
        for name, note in parameters_of(kind).items()
    }
    every = [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]
    for settings in every:
        if issubclass(kind, PosteriorSampler) and settings["calibration"] is Calibration.AS_PRINTED:
            settings["epsilon"] = 4.0
    return every


VARIANTS = [(kind, settings) for kind in MECHANISMS for settings in typical_settings(kind)]
every_mechanism = pytest.mark.parametrize(
    ("kind", "settings"),
    VARIANTS,
    ids=[" ".join([k.label, *(v.value for v in s.values() if isinstance(v, Enum))]) for k, s in VARIANTS],
)


def build(kind: type, settings: Mapping, network: Network = ASIA):
    return kind(prior=Dirichlets.symmetric(network), **settings)


def rng() -> np.random.Generator:
    return np.random.default_rng(19)
