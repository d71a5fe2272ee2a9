"""A small picture of Explore for Home: a posterior that moves with epsilon by itself, until somebody moves it."""

from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import streamlit as st

from dpbayes.base.looks import EXACT, PRIVATE
from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.releases import cumulative, density
from dpbayes.figures.posterior import PLACES, PRIOR_ALONE, ROOM, Densities, cut_off
from dpbayes.model.counts import count
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.session.chosen import kind_called
from dpbayes.ui.session.kept import server_cache
from dpbayes.ui.session.settings import Settings

EPSILONS = tuple(float(f"{10 ** (k / 4):.2g}") for k in range(-8, 9))
"""The epsilons of the picture, 0.01 to 100."""

ROW, STATE = "dysp | bronc=yes, either=no", "yes"

HIGH = 1000
"""The height of the picture in units."""


@dataclass(frozen=True)
class Miniature:
    """What the browser draws: heights of the exact density and of the private one at each epsilon, and their names.

    `notes` has three texts for each epsilon: the probability at the left end where the density is cut off, the same at
    the right end, and whether the release is all but the prior.
    """

    exact: list[int]
    private: list[list[int]]
    notes: list[tuple[str, str, str]]
    epsilons: list[str]
    high: int
    name: str
    colours: tuple[str, str] = (EXACT, PRIVATE)


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "dpbayes_miniature", html=_asset("miniature.html"), css=_asset("miniature.css"), js=_asset("miniature.js")
)


def miniature() -> None:
    """Show the picture."""
    _mount(key="miniature", data=asdict(computed()))


@server_cache()
def computed() -> Miniature:
    """Compute P(dysp = yes | bronc = yes, either = no) of 1,000 synthetic records of Asia, exact and released."""
    (network, cpts), kind = load_named("asia"), kind_called(Settings().mechanism)
    counts = count(network, sample_dataset(network, cpts, 1000, stream(1, "home", "records")))
    state = network.states[network.index("dysp")].index(STATE)
    cell = np.array([network.row_starts[network.row_labels().index(ROW)] + state])
    theta = np.linspace(0.001, 0.999, 161)
    prior = Settings().prior.on(network)
    exact, prior_below = density(prior.updated(counts), int(cell[0]), theta), cumulative(prior, int(cell[0]), PLACES)
    private, notes = [], []
    for epsilon in EPSILONS:
        release = kind(prior=prior, epsilon=epsilon).release(counts, stream(4, "home", "noise"))
        read = release.noise_aware_cells(cell, points=256)
        private.append(np.exp(read.log_density(theta[:, None]))[:, 0])
        notes.append(
            _notes(Densities(theta, private[-1][None], read.cumulative(PLACES[:, None])[:, 0], prior_below), exact)
        )
    heights = density_heights(exact, np.array(private))
    name = f"P({network.cell_label(int(cell[0]))})"
    return Miniature(*heights, notes, [numeral(epsilon) for epsilon in EPSILONS], HIGH, name)


def _notes(densities: Densities, exact: FloatArray) -> tuple[str, str, str]:
    ends = cut_off(densities, ROOM * float(exact.max()))
    return ends.get(0, ""), ends.get(1, ""), PRIOR_ALONE if densities.is_prior else ""


def density_heights(exact: FloatArray, private: FloatArray) -> tuple[list[int], list[list[int]]]:
    """Return the heights of an exact density and of several private ones, which are cut off at the picture's top.

    Args:
        exact: The exact density on a grid: (G,).
        private: The private densities on the same grid: (E, G).

    Returns:
        The heights in whole units, 0 to `HIGH`: of the exact density, and of each private one.
    """
    top = ROOM * float(exact.max())
    heights = np.rint(HIGH * np.minimum(np.vstack([exact, private]) / top, 1.0)).astype(int).tolist()
    return heights[0], heights[1:]
