"""Networks as objects of pyAgrum, which the extra `interchange` installs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.extras import extra
from dpbayes.base.types import FloatArray
from dpbayes.model.cpts import ForeignTable, checked_cpts, cpts_of_tables
from dpbayes.model.network import Network


def to_pyagrum(network: Network, probabilities: ArrayLike) -> Any:
    """Return a network and its CPTs as a network of pyAgrum.

    Args:
        network: The network.
        probabilities: The CPTs (K,).

    Returns:
        A `pyagrum.BayesNet` with the names of nodes and states.

    Raises:
        InputError: pyAgrum is not installed, the probabilities have another shape, or a row does not add up to one.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.to_pyagrum(network, probabilities).size()  # doctest: +SKIP
        8
    """
    checked = checked_cpts(network, probabilities)
    with extra("interchange", "A network of pyAgrum"):
        import pyagrum
    model = pyagrum.BayesNet()
    for name, states in zip(network.names, network.states, strict=True):
        model.add(pyagrum.LabelizedVariable(name, "", list(states)))
    for edge in network.edges:
        model.addArc(*edge)
    for i, name in enumerate(network.names):
        table = model.cpt(name)
        axes = [network.parents[i].index(parent) for parent in reversed(table.names[1:])]
        cells = np.asarray(network.table(checked, i)).transpose(*axes, len(axes))
        table.fillWith(cells.ravel().tolist())
    return model


def from_pyagrum(model: Any) -> tuple[Network, FloatArray]:
    """Read a network and its CPTs from a network of pyAgrum.

    Args:
        model: A `pyagrum.BayesNet`.

    Returns:
        The network, and the probabilities (K,) of its cells.

    Raises:
        InputError: A probability is not a number, a row does not add up to one, or the network is too large.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.from_pyagrum(dp.to_pyagrum(network, probabilities))[0] == network  # doctest: +SKIP
        True
    """
    variables = [model.variable(node) for node in sorted(model.nodes())]
    states = {variable.name(): tuple(variable.labels()) for variable in variables}
    edges = [(model.variable(parent).name(), model.variable(child).name()) for parent, child in model.arcs()]
    network = Network.from_edges(states, edges, states)
    tables: dict[str, ForeignTable] = {}
    for name in states:
        table = model.cpt(name)
        # The axes of the array run against the names: the node itself is the last.
        axes = {axis: states[axis] for axis in reversed(table.names)}
        tables[name] = ForeignTable(axes, np.asarray(table.toarray(), dtype=np.float64))
    return network, cpts_of_tables(network, tables)
