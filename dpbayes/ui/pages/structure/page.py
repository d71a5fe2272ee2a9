"""The Structure page: noise against density over families of graphs, Laplace, Fourier and others. All is public."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import done, numeral, plural
from dpbayes.experiments.best_noise import Promise, needs_delta, noisy_kinds
from dpbayes.experiments.graph_families import (
    PURE,
    FamilyNoise,
    GraphCosts,
    costs_of,
    family_noise,
    mean_crossing,
    means_by_density,
    named_families,
    noise_factor,
    random_costs,
)
from dpbayes.figures.graph_families import OtherNoise, graph_families_figure
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.ui.pages.structure.details import details
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import hand_moves
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, Facts, pictures_tell
from dpbayes.ui.widgets.from_python import program, same_from_python
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress, running, so_far
from dpbayes.ui.widgets.show import data_and_download, inside, noise_is_not_error, numbers

LAPLACE = Look(LaplaceUpdates.label, LaplaceUpdates.colour)
CERTIFIED = Look("Fourier, certified", LaplaceFourier.colour)
PRINTED = Look("Fourier, as printed", LaplaceFourier.colour, dash="dashdot", symbol="circle-open")
KINDS: tuple[type, ...] = (LaplaceUpdates, LaplaceFourier)
"""The mechanisms of the paper, which have lines of their own."""

SEARCHED_GRAPHS = 2
"""Random graphs of each density on which the best noise is searched: seconds' work of 12 nodes, a minute's at most."""


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs at epsilon 1: of the `families` in the order of `names`, and of random graphs (graphs, densities)."""

    names: tuple[str, ...]
    families: GraphCosts
    random: GraphCosts

    @property
    def arrows(self) -> np.ndarray:
        """The densities of the random graphs (densities,)."""
        return self.random.arrows[0]

    @property
    def graphs(self) -> int:
        """How many random graphs there are of each density."""
        return len(self.random.arrows)

    @property
    def is_exact(self) -> bool:
        """Whether O is found exactly in every graph."""
        return bool(self.families.exact.all() and self.random.exact.all())

    @property
    def is_sparse(self) -> bool:
        """Whether no node of a random graph is a child of more than half the graph."""
        return bool(self.random.largest.max() <= self.random.nodes / 2)

    def crossing(self, noise: np.ndarray) -> Estimate | None:
        """Return up to how many arrows per node this noise (graphs, densities) is on average below Laplace's."""
        return mean_crossing(self.arrows, noise / self.random.laplace)


FACTS: Facts = EPSILON


def structure_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with the number of nodes, all else follows when the hand rests."""
    pictures_tell(FACTS)
    epsilon, page = chosen.epsilon, places()
    moving = page.first(_moving, chosen)
    with page.controls:
        controls.parameter_control("structure.graphs")
        controls.parameter_control("epsilon")
        controls.parameter_control("delta")
        st.caption("No table is involved: noise depends on the graph and on the promise alone, and both are public.")
    if moving is None:
        return False
    costs, others, work = moving
    if work is not None and work.is_long:
        with page.picture:
            told = f"{done(work.share)} of the search for the best noise on random graphs"
            progress(work, told, key="structure.stop")
    _table(costs, others, epsilon)
    noise_is_not_error()
    st.page_link("pages/best_noise.py", label="Best noise compares all mechanisms", icon=":material/arrow_forward:")
    data_and_download(lambda: records_of(costs, others, epsilon), name="structure", curator_only=False)
    details(costs.random.nodes, epsilon, exact=costs.is_exact, sparse=costs.is_sparse)
    same_from_python(python_of(costs, epsilon), name="structure")
    if work is None or not work.going:
        return False
    work.work()  # once all is drawn, lest it stand faded meanwhile
    return True


def python_of(costs: Costs, epsilon: float) -> str:
    """Return the code that gives the table of the families."""
    return program(
        "from dpbayes.experiments.graph_families import costs_of, named_families",
        f"families = named_families({costs.random.nodes!r})",
        "costs = costs_of(list(families.values()))",
        f"print(costs.frame(epsilon={epsilon!r}).set_axis(list(families)))",
    )


def _moving(page: Places, chosen: Chosen) -> tuple[Costs, list[OtherNoise], Running[FamilyNoise] | None]:
    options = chosen.options("structure")
    costs = _costs(options.nodes, options.graphs, chosen.seed)
    noise, work = _others(options.nodes, min(options.graphs, SEARCHED_GRAPHS), chosen.seed)
    promise = Promise(chosen.epsilon, float(chosen.parameter("delta")))
    others = _drawn(noise, costs.random.nodes, promise)
    with page.picture:
        _picture(costs, noise, others or _awaited(costs, promise), epsilon=promise.epsilon)
    page.lead("structure.nodes")
    page.say(verdict(costs))
    return costs, others, work


def other_kinds() -> tuple[type[Any], ...]:
    """Return the mechanisms that say how much noise is in a cell, but for those that the paper compares."""
    return tuple(kind for kind in noisy_kinds() if kind not in KINDS)


def _others(nodes: int, graphs: int, seed: int) -> tuple[FamilyNoise | None, Running[FamilyNoise] | None]:
    """Return what is known by now of the other mechanisms' noise, and the work on it; none while a hand moves."""
    key = (nodes, graphs, seed)
    if hand_moves():
        return so_far("structure.others", key), None

    def start() -> Work[FamilyNoise]:
        return family_noise(nodes, stream(seed, "structure", nodes), graphs=graphs, kinds=other_kinds())

    work = running("structure.others", key, start)
    return work.result, work


def _drawn(noise: FamilyNoise | None, nodes: int, promise: Promise) -> list[OtherNoise]:
    """Return the other mechanisms' noise at a promise as it is drawn; one that needs a delta says which."""
    if noise is None:
        return []
    lines = []
    for kind in noise.families:
        factor = noise_factor(kind, nodes, promise)
        families, random = noise.families[kind] * factor, noise.random[kind] * factor
        lines.append(OtherNoise(_look(kind, promise), families, random, needs_delta(kind)))
    return lines


def _awaited(costs: Costs, promise: Promise) -> list[OtherNoise]:
    """Return the other mechanisms before anything of them is known: their names keep the picture's place."""
    families, random = np.full(len(costs.names), np.nan), np.empty((0, len(costs.arrows)))
    return [OtherNoise(_look(kind, promise), families, random, needs_delta(kind)) for kind in other_kinds()]


def _look(kind: type[Any], promise: Promise) -> Look:
    name = f"{kind.label} (δ = {numeral(promise.delta)})" if needs_delta(kind) else kind.label
    return Look(name, kind.colour, width=2)


@st.cache_data(scope="session", max_entries=16, show_spinner="Drawing random graphs …")
def _costs(nodes: int, graphs: int, seed: int) -> Costs:
    families = named_families(nodes)
    drawn = random_costs(nodes, stream(seed, "structure", nodes), graphs=graphs)
    return Costs(tuple(families), costs_of(list(families.values())), drawn)


def verdict(costs: Costs) -> str:
    """Return up to which density Fourier adds less noise, and what the paper says of it."""
    nodes, most = costs.random.nodes, numeral(costs.arrows[-1], 2)
    among, denser = f"among random graphs of {nodes} nodes", "in denser ones"
    if costs.graphs == 1:
        among, denser = f"in the one random graph of {nodes} nodes drawn", "once it is denser"
    certified, printed = costs.crossing(costs.random.certified), costs.crossing(costs.random.printed)
    remark = "the paper’s remark says that denser graphs gain more."
    if certified is None:
        return (
            f"{among[0].upper()}{among[1:]}, Fourier adds less noise than Laplace at every density, "
            f"up to {arrows_per_node(most)}; but each arrow adds to it, where {remark}"
        )
    as_printed = f"as printed, up to {density(printed)}" if printed and printed.value else "never less, as printed"
    return (
        f"Fourier adds less noise than Laplace up to about {arrows_per_node(density(certified))} ({as_printed}) "
        f"{among}, and more {denser}; {remark}"
    )


def density(crossing: Estimate) -> str:
    """Return a number of arrows per node with its standard error; two digits where a single graph tells none."""
    return str(crossing) if np.isfinite(crossing.error) else numeral(crossing.value, 2)


def arrows_per_node(number: str) -> str:
    """Return a number of arrows per node in words."""
    return f"{plural(number, 'arrow')} per node"


def _picture(costs: Costs, other_noise: FamilyNoise | None, others: list[OtherNoise], *, epsilon: float) -> None:
    def noise(family: GraphCosts) -> dict[Look, np.ndarray]:
        values = {LAPLACE: family.laplace, CERTIFIED: family.certified, PRINTED: family.printed}
        return {look: value / epsilon for look, value in values.items()}

    by_mechanism = noise(costs.families)
    families = {
        family: (float(costs.families.arrows[i]), {look: float(values[i]) for look, values in by_mechanism.items()})
        for i, family in enumerate(costs.names)
    }
    random, reached = noise(costs.random), costs.crossing(costs.random.certified)
    chart(
        graph_families_figure(
            costs.arrows,
            random,
            families,
            scale=costs.random.scale / epsilon,
            crossing=reached.value if reached is not None else None,
            others=others,
        ),
        key="structure.noise",
        alt=f"Noise sd per cell against average in-degree for graphs of {costs.random.nodes} nodes: Laplace stays at "
        f"{numeral(float(random[LAPLACE].mean()))} counts, certified Fourier rises from "
        f"{numeral(float(random[CERTIFIED][:, 0].mean()))} to {numeral(float(random[CERTIFIED][:, -1].mean()))}."
        + "".join(
            f" On the chain {inside(other.look.name)} adds {numeral(float(other.families[0]))}."
            for other in others
            if np.isfinite(other.families[0])
        ),
    )
    by_node = costs.crossing(costs.random.certified_by_node)
    other = f"up to {arrows_per_node(density(by_node))}" if by_node is not None else "at every density shown"
    lines = (
        f"Lines: the mean of {costs.graphs} random graphs (dots) for each number of arrows, each grown arrow by arrow "
        "from a seed; bands and ±: one standard error of that mean."
        if costs.graphs > 1
        else "Lines: one random graph, grown arrow by arrow from a seed; it takes more of them to say how far others "
        "are from it."
    )
    st.container(key="costs-said").caption(
        f"{lines} Noise is averaged over cells; the cells of a node with many parents are many, and "
        f"have less noise each. Averaged over nodes instead, certified Fourier adds less than Laplace {other}. "
        "The dashed line is not noise in counts: it is the scale on a coefficient in the paper’s units."
        + (_told_of(other_noise) if other_noise is not None else "")
    )


def _told_of(noise: FamilyNoise) -> str:
    """Say of how many random graphs the other mechanisms' lines are, and of what."""
    of = {0: "have no line yet", 1: "are of the first random graph"}.get(
        noise.graphs, f"are of the first {noise.graphs} random graphs"
    )
    exact = "" if noise.exact else " Where a worst record is not found exactly, a proved bound on it is used."
    return f" Mechanisms besides Laplace and Fourier {of}; Gaussian ones promise (ε, δ), not ε.{exact}"


def _table(costs: Costs, others: list[OtherNoise], epsilon: float) -> None:
    frame = costs.families.frame(epsilon=epsilon).assign(**{other.look.name: other.families for other in others})
    frame.insert(0, "family", costs.names)
    gaussian = [other.look.name for other in others if other.needs_delta]
    pure = [*PURE, *(other.look.name for other in others if not other.needs_delta)]
    frame.insert(1, "least without δ", frame[pure].idxmin(axis=1))
    if gaussian:
        frame.insert(2, "least of all", frame[[*pure, *gaussian]].idxmin(axis=1))
    numbers(frame)
    st.caption(
        "Noise sd per cell of every mechanism at one promise. Laplace noise gains by a δ too: Best noise counts that."
        if others
        else "The other mechanisms come once their noise is worked out."
    )


def records_of(costs: Costs, others: list[OtherNoise], epsilon: float) -> pd.DataFrame:
    """Return one record per graph, the families first; then the means over random graphs and their standard errors.

    Noise that is searched for is known of the first random graphs only, and its means are of those.
    """
    families, random = costs.families.frame(epsilon=epsilon), costs.random.frame(epsilon=epsilon)
    families = families.assign(**{other.look.name: other.families for other in others})
    random = random.assign(**{other.look.name: _padded(other.random.ravel(), len(random)) for other in others})
    means = means_by_density(random)
    families.insert(0, "family", costs.names)
    random.insert(0, "family", "random")
    means.insert(0, "family", "mean of the random ones")
    return pd.concat([families, random, means], ignore_index=True)


def _padded(values: np.ndarray, length: int) -> np.ndarray:
    return np.pad(values.astype(np.float64), (0, length - len(values)), constant_values=np.nan)
