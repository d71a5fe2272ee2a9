"""Networks as objects of pgmpy, which the extra `interchange` installs."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.extras import extra
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import ForeignTable, checked_cpts, cpts_of_tables
from dpbayes.model.network import Network


def to_pgmpy(network: Network, probabilities: ArrayLike) -> Any:
    """Return a network and its CPTs as a model of pgmpy.

    Args:
        network: The network.
        probabilities: The CPTs (K,).

    Returns:
        A `pgmpy.models.DiscreteBayesianNetwork` with the names of nodes and states.

    Raises:
        InputError: pgmpy is not installed, the probabilities have another shape, or a row does not add up to one.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> model = dp.to_pgmpy(network, probabilities)  # doctest: +SKIP
        >>> model.get_cpds("lung").get_evidence()  # doctest: +SKIP
        ['smoke']
    """
    checked = checked_cpts(network, probabilities)
    with extra("interchange", "A model of pgmpy"):
        from pgmpy.factors.discrete import TabularCPD
        from pgmpy.models import DiscreteBayesianNetwork
    model = DiscreteBayesianNetwork()
    model.add_nodes_from(network.names)
    model.add_edges_from(network.edges)
    cards = network.cards.tolist()
    for i, (name, family) in enumerate(zip(network.names, network.families, strict=True)):
        cells = np.asarray(network.table(checked, i)).reshape(-1, cards[i]).T
        states = {network.names[j]: list(network.states[j]) for j in family}
        parents = list(network.parents[i])
        own = [cards[j] for j in family[:-1]]
        model.add_cpds(TabularCPD(name, cards[i], cells, parents or None, own or None, state_names=states))
    return model


def from_pgmpy(model: Any) -> tuple[Network, FloatArray]:
    """Read a network and its CPTs from a model of pgmpy.

    Args:
        model: A `pgmpy.models.DiscreteBayesianNetwork` with a CPD for every node. Names of states become text.

    Returns:
        The network, and the probabilities (K,) of its cells.

    Raises:
        InputError: A node has no CPD, or one that is not over its parents, or two states have the same name as text.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.from_pgmpy(dp.to_pgmpy(network, probabilities))[0] == network  # doctest: +SKIP
        True
    """
    nodes = list(model.nodes())
    tables: dict[str, ForeignTable] = {}
    for node in nodes:
        cpd = model.get_cpds(node)
        if cpd is None:
            raise InputError(f"The node {brief(node)} of the model has no CPD. Fit the model first.")
        names = {str(own): tuple(map(str, cpd.state_names[own])) for own in cpd.variables}
        values = np.asarray(cpd.values, dtype=np.float64)
        tables[str(node)] = ForeignTable(names, values)
    states = {name: table.axes[name] for name, table in tables.items()}
    edges = [(str(parent), str(child)) for parent, child in model.edges()]
    network = Network.from_edges(map(str, nodes), edges, states)
    return network, cpts_of_tables(network, tables)
