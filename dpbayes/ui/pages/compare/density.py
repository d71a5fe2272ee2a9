"""Noise against density over families of graphs, for every mechanism. No table is involved: everything is public."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.libraries import pd
from dpbayes.base.looks import BOUND, Look
from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.steps import Work
from dpbayes.base.text import latex, many, numeral, plural
from dpbayes.base.types import FloatArray
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
from dpbayes.figures.noise import DensityLine, noise_by_density_figure
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.sources.named_networks import chain
from dpbayes.theory.zhang16.fourier import REMARK_COMPARISON, closure_bound, comparison_bound
from dpbayes.ui.pages.compare.noise import promise_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.research import MechanismsShown
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import hand_moves
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import program, same_from_python
from dpbayes.ui.widgets.page import Places, settle
from dpbayes.ui.widgets.running import Running, progress_if_long, running, so_far
from dpbayes.ui.widgets.show import assumption, data_and_download, inside, noise_is_not_error, numbers, source

LAPLACE = Look(LaplaceUpdates.label, LaplaceUpdates.colour)
PROVED = Look(LaplaceFourier.label, LaplaceFourier.colour)
STATED = Look("Fourier, as stated", LaplaceFourier.colour, dash="dashdot", width=2)
SCALE = Look("scale in Remark 1", BOUND, dash="dash", width=2)
KINDS: tuple[type, ...] = (LaplaceUpdates, LaplaceFourier)
"""The mechanisms of the paper, which are always shown."""

SEARCHED_GRAPHS = 2
"""Random graphs of each density on which the best noise is searched: seconds' work of 12 nodes, a minute's at most."""


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs at epsilon 1: of the `families` in the order of `names`, and of random graphs (graphs, densities)."""

    names: tuple[str, ...]
    families: GraphCosts
    random: GraphCosts

    @property
    def arrows(self) -> FloatArray:
        """The densities of the random graphs (densities,)."""
        return self.random.arrows[0]

    @property
    def graphs(self) -> int:
        """How many random graphs there are of each density."""
        return len(self.random.arrows)

    @property
    def is_exact(self) -> bool:
        """Whether O is computed exactly in every graph."""
        return bool(self.families.exact.all() and self.random.exact.all())

    @property
    def is_sparse(self) -> bool:
        """Whether no node of a random graph is a child of more than half the graph."""
        return bool(self.random.largest.max() <= self.random.nodes / 2)

    def crossing(self, noise: FloatArray) -> Estimate | None:
        """Return up to how many arrows per node this noise (graphs, densities) is on average below Laplace's."""
        return mean_crossing(self.arrows, noise / self.random.laplace)


@dataclass(frozen=True, eq=False)
class OtherNoise:
    """A mechanism that is not in the paper: its noise sds in counts, for families (families,) and random graphs.

    Its `column` in tables states the delta, if it needs one.
    """

    look: Look
    column: str
    families: FloatArray
    random: FloatArray
    needs_delta: bool


def density_view(page: Places, chosen: Chosen) -> bool:
    """Show the picture first: it moves with the number of nodes, and all else is updated when the slider stops."""
    moving = page.first(_moving, chosen)
    with page.controls:
        for name in ("compare.shown", "structure.graphs", "epsilon", "delta"):
            controls.parameter_control(name)
        st.caption("No table is used: noise depends on the graph and on the guarantee only.")
    if moving is None:
        return False
    costs, others, work = moving
    epsilon = chosen.epsilon
    if work is not None:
        with page.picture:
            progress_if_long(work, "the search for the best noise on random graphs", key="structure.stop")
    with st.container(key="below"):
        _table(costs, others, epsilon)
        noise_is_not_error()
        data_and_download(lambda: graph_records(costs, others, epsilon), name="density", curator_only=False)
        _formulas(costs, epsilon)
    same_from_python(python_of(costs, epsilon), name="density")
    if work is None or not work.going:
        return False
    settle()
    work.work()  # after all is drawn, so that nothing is greyed meanwhile
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
    others = _at_promise(noise, costs.random.nodes, promise_of(chosen))
    with page.picture:
        _picture(costs, noise, others, chosen)
    page.lead("structure.nodes")
    page.say(verdict(costs))
    return costs, others, work


def other_kinds() -> tuple[type[Any], ...]:
    """Return the mechanisms that state the noise in a cell, except the two that the paper compares."""
    return tuple(kind for kind in noisy_kinds() if kind not in KINDS)


def _others(nodes: int, graphs: int, seed: int) -> tuple[FamilyNoise | None, Running[FamilyNoise] | None]:
    """Return the other mechanisms' noise so far, and the work on it; none while a slider moves."""
    key = (nodes, graphs, seed)
    if hand_moves():
        return so_far("structure.others", key), None

    def start() -> Work[FamilyNoise]:
        return family_noise(nodes, stream(seed, "structure", nodes), graphs=graphs, kinds=other_kinds())

    work = running("structure.others", key, start)
    return work.result, work


def _at_promise(noise: FamilyNoise | None, nodes: int, promise: Promise) -> list[OtherNoise]:
    """Return the other mechanisms' noise at a promise."""
    if noise is None:
        return []
    others = []
    for kind in noise.families:
        factor = noise_factor(kind, nodes, promise)
        name = f"{kind.label} (δ = {numeral(promise.delta)})" if needs_delta(kind) else kind.label
        families, random = noise.families[kind] * factor, noise.random[kind] * factor
        look = Look(kind.label, kind.colour, width=2)
        others.append(OtherNoise(look, name, families, random, needs_delta(kind)))
    return others


@st.cache_data(scope="session", max_entries=16, show_spinner="Sampling random graphs …")
def _costs(nodes: int, graphs: int, seed: int) -> Costs:
    families = named_families(nodes)
    drawn = random_costs(nodes, stream(seed, "structure", nodes), graphs=graphs)
    return Costs(tuple(families), costs_of(list(families.values())), drawn)


def verdict(costs: Costs) -> str:
    """Return up to which density Fourier adds less noise than Laplace."""
    among = f"on random graphs of {costs.random.nodes} nodes"
    crossing = costs.crossing(costs.random.certified)
    if crossing is None:
        return f"Fourier adds less noise than Laplace at every density {among}."
    return f"Fourier adds less noise than Laplace below {arrows_per_node(numeral(crossing.value))} {among}."


def density_text(crossing: Estimate) -> str:
    """Return a number of arrows per node with its standard error; two digits where a single graph has none."""
    return str(crossing) if np.isfinite(crossing.error) else numeral(crossing.value, 2)


def arrows_per_node(number: str) -> str:
    """Return a number of arrows per node in words."""
    return f"{plural(number, 'arrow')} per node"


def lines_of(costs: Costs, others: list[OtherNoise], *, epsilon: float, shown: MechanismsShown) -> list[DensityLine]:
    """Return the drawn lines: the paper's two mechanisms, and the least noise without δ and with δ, or all."""
    random = costs.random
    lines = [DensityLine(LAPLACE, random.laplace / epsilon), DensityLine(PROVED, random.certified / epsilon)]
    if shown is MechanismsShown.ALL:
        lines += [DensityLine(STATED, random.printed / epsilon), DensityLine(SCALE, random.scale / epsilon)]
        return lines + [DensityLine(other.look, other.random) for other in others if len(other.random)]
    for needed in (False, True):
        of_kind = [other for other in others if other.needs_delta is needed and len(other.random)]
        if of_kind:
            least = min(of_kind, key=lambda other: float(other.random.mean()))
            lines.append(DensityLine(least.look, least.random))
    return lines


def _picture(costs: Costs, noise: FamilyNoise | None, others: list[OtherNoise], chosen: Chosen) -> None:
    lines = lines_of(costs, others, epsilon=chosen.epsilon, shown=chosen.options("compare").shown)
    reached = costs.crossing(costs.random.certified)
    chart(
        noise_by_density_figure(costs.arrows, lines, crossing=reached.value if reached is not None else None),
        key="compare.density",
        alt=f"Noise sd per cell against average in-degree for graphs of {costs.random.nodes} nodes. From none to the "
        "most arrows: "
        + "; ".join(
            f"{inside(line.look.name)} from {numeral(float(line.mean[0]))} to {numeral(float(line.mean[-1]))} counts"
            for line in lines
        )
        + ".",
    )
    of = f"the mean of {costs.graphs} random graphs" if costs.graphs > 1 else "one random graph"
    band = "; bands are one standard error" if costs.graphs > 1 else ""
    crossings = [
        f"{density_text(crossing)} ({where})"
        for where, values in (
            ("averaged over cells", costs.random.certified),
            ("averaged over nodes", costs.random.certified_by_node),
            ("with the noise as stated in the paper", costs.random.printed),
        )
        if (crossing := costs.crossing(values)) is not None and crossing.value
    ]
    st.container(key="costs-said").caption(
        f"Each line is {of} for each number of arrows{band}."
        + (
            f" Fourier and Laplace add equal noise at these numbers of arrows per node: {', '.join(crossings)}."
            if crossings
            else ""
        )
        + (_searched_text(noise) if noise is not None else "")
    )


def _searched_text(noise: FamilyNoise) -> str:
    """Return on how many random graphs the other mechanisms are computed."""
    on = f"computed on {many(noise.graphs, 'random graph')}" if noise.graphs else "still being computed"
    exact = (
        ""
        if noise.exact
        else " Where the largest privacy loss of a record is not computed exactly, a proved bound is used."
    )
    return f" The noise of the other mechanisms is {on}. Gaussian mechanisms guarantee (ε, δ).{exact}"


def _table(costs: Costs, others: list[OtherNoise], epsilon: float) -> None:
    frame = costs.families.frame(epsilon=epsilon).assign(**{other.column: other.families for other in others})
    frame.insert(0, "family", costs.names)
    gaussian = [other.column for other in others if other.needs_delta]
    pure = [*PURE, *(other.column for other in others if not other.needs_delta)]
    frame.insert(1, "least without δ", frame[pure].idxmin(axis=1))
    if gaussian:
        frame.insert(2, "least with or without δ", frame[[*pure, *gaussian]].idxmin(axis=1))
    st.markdown("**Noise per cell on a chain, a tree and naive Bayes, in counts**")
    numbers(frame)


def graph_records(costs: Costs, others: list[OtherNoise], epsilon: float) -> "pd.DataFrame":
    """Return one record per graph, the families first; then the means over random graphs and their standard errors.

    Noise that is searched for is computed on the first random graphs only, and its means are of those.
    """
    families, random = costs.families.frame(epsilon=epsilon), costs.random.frame(epsilon=epsilon)
    families = families.assign(**{other.column: other.families for other in others})
    random = random.assign(**{other.column: _padded(other.random.ravel(), len(random)) for other in others})
    means = means_by_density(random)
    families.insert(0, "family", costs.names)
    random.insert(0, "family", "random")
    means.insert(0, "family", "mean of the random graphs")
    return pd.concat([families, random, means], ignore_index=True)


def _padded(values: FloatArray, length: int) -> FloatArray:
    return np.pad(values.astype(np.float64), (0, length - len(values)), constant_values=np.nan)


# Formulas


def _formulas(costs: Costs, epsilon: float) -> None:
    """Show the formulas with the numbers of the chain, and what they assume."""
    nodes = costs.random.nodes
    line = chain(nodes)
    overlap, cells = line.closure.odd_overlap, 4
    printed, certified = (2 * value / epsilon for value in (len(line.closure), overlap.value))
    remark, size = comparison_bound(line), closure_bound(line)
    rebuilt = np.sqrt(2 * (cells - 1)) * certified / cells
    as_printed = np.sqrt(2 * cells) * printed / cells
    with st.expander("Formulas, assumptions and source"):
        st.markdown(
            f"""
The numbers are for the chain of {nodes} nodes at $\\varepsilon = {latex(epsilon, 6)}$.

- **Laplace** (Lemma 1, Corollary 1): one record moves the counts by $2|I| = {2 * nodes}$ in any graph. The sd is
  $\\sqrt 2 \\cdot 2|I|/\\varepsilon = {numeral(np.sqrt(2) * 2 * nodes / epsilon)}$ in every cell.
- **Fourier, as stated** (Corollary 2): scale $b = 2|N_I|/\\varepsilon = {numeral(printed)}$ on each integer
  coefficient, $|N_I| = {len(line.closure)}$. A family of $c$ cells is rebuilt from $c$ coefficients, so the sd is
  $\\sqrt 2\\, b/\\sqrt c = {numeral(as_printed)}$ in a cell of a node with one parent.
- **Fourier, proved**: scale $b = 2O/\\varepsilon = {numeral(certified)}$, where $O = {overlap.value}$ is the largest
  number of coefficients that one record can flip. The public $n$ has no noise. The sd is
  $\\sqrt 2\\, b \\sqrt{{c - 1}}/c = {numeral(rebuilt)}$.
- **Remark 1, scale**:
  $|N_I| = {len(line.closure)} \\le |I|\\, 2^{{1 + \\max \\mathrm{{indeg}}}} = {numeral(float(size.printed))}$.
  The bound holds.
- **Remark 1, comparison**: noise at most
  $2^{{1 + \\max \\mathrm{{indeg}} - |I|/2}} = {numeral(float(remark.printed))}$ times Laplace’s. In counts per cell the
  noise is {numeral(float(remark.certified))} times Laplace’s at the worst node. {REMARK_COMPARISON.finding}
"""
        )
        assumption("Every node is binary.", holds=True)
        assumption(
            "O is computed exactly in every graph here; otherwise a proved upper bound is used.", holds=costs.is_exact
        )
        assumption(
            "As Remark 1 assumes, no node here has more than half of the nodes as parents.",
            holds=costs.is_sparse,
        )
        source(Reference("Zhang16", "Lemma 1, Corollaries 1 and 2, Remark 1"))
