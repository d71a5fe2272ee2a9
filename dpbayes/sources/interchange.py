"""Networks from networkx graphs, and from and to models of pgmpy (the extra `interchange`)."""

from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.libraries import extra, nx
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import checked_cpts, cpts_of_tables
from dpbayes.model.network import Network


def from_networkx(graph: "nx.DiGraph[Any]") -> tuple[Network, FloatArray | None]:
    """Read a network from a networkx graph, with its states and its probabilities where the nodes have them.

    Args:
        graph: A directed graph. Names of nodes become text. A node without the attribute `states` is binary (no, yes).
            The attributes `parents` and `probabilities` are those of `Network.to_networkx`.

    Returns:
        The network, and the probabilities (K,) of its cells; None if no node has probabilities.

    Raises:
        InputError: The graph is not directed, has several edges between two nodes, or has a cycle; or some nodes have
            probabilities and others do not, or probabilities of another shape.

    Example:
        >>> import networkx as nx
        >>> network, probabilities = dp.from_networkx(nx.DiGraph([("rain", "grass"), ("sun", "grass")]))
        >>> network.parents, probabilities
        (((), ('rain', 'sun'), ()), None)
    """
    if not isinstance(graph, nx.DiGraph) or graph.is_multigraph():
        raise InputError("The graph must be directed, with at most one arrow from one node to another: an nx.DiGraph.")
    nodes = {str(node): attributes for node, attributes in graph.nodes(data=True)}
    if len(nodes) != len(graph):
        raise InputError("Two nodes of the graph have the same name as text. Rename one of them.")
    states = {name: _texts(name, "states", own["states"]) for name, own in nodes.items() if "states" in own}
    network = Network.from_edges(nodes, [(str(parent), str(child)) for parent, child in graph.edges], states)
    if not any("probabilities" in own for own in nodes.values()):
        return network, None
    tables: dict[str, tuple[tuple[str, ...], FloatArray]] = {}
    for name, own in nodes.items():
        if "probabilities" in own:
            axes = (*_texts(name, "parents", own.get("parents", ())), name)
            try:
                tables[name] = axes, np.asarray(own["probabilities"], dtype=np.float64)
            except (TypeError, ValueError):
                raise InputError(f"The probabilities of the node {brief(name)} must be an array of numbers.") from None
    return network, cpts_of_tables(network, tables)


def _texts(node: str, attribute: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise InputError(f"The {attribute} of the node {brief(node)} must be a list.")
    return tuple(map(str, values))


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
        parents, sizes = list(network.parents[i]) or None, [cards[j] for j in family[:-1]] or None
        model.add_cpds(TabularCPD(name, cards[i], cells, parents, sizes, state_names=states))
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
    if not all(hasattr(model, name) for name in ("nodes", "edges", "get_cpds")):
        raise InputError("The model must be a DiscreteBayesianNetwork of pgmpy.")
    graph: nx.DiGraph[Any] = nx.DiGraph()
    for node in model.nodes():
        cpd = model.get_cpds(node)
        if cpd is None:
            raise InputError(f"The node {brief(node)} of the model has no CPD. Fit the model first.")
        values, (_, *parents) = np.moveaxis(np.asarray(cpd.values), 0, -1), cpd.variables
        graph.add_node(node, states=cpd.state_names[node], parents=parents, probabilities=values)
    graph.add_edges_from(model.edges())
    network, probabilities = from_networkx(graph)
    return network, cast("FloatArray", probabilities)
