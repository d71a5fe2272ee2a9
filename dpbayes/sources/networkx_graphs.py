"""Networks from networkx graphs, the counterpart of `Network.to_networkx`."""

from typing import Any

import networkx as nx
import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import ForeignTable, cpts_of_tables
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
    if not graph.is_directed() or graph.is_multigraph():
        raise InputError("The graph must be directed, with at most one arrow from a node to another: an nx.DiGraph.")
    nodes = {str(node): attributes for node, attributes in graph.nodes(data=True)}
    if len(nodes) != len(graph):
        raise InputError("Two nodes of the graph have the same name as text. Rename one of them.")
    states = {name: tuple(map(str, own["states"])) for name, own in nodes.items() if "states" in own}
    network = Network.from_edges(nodes, [(str(parent), str(child)) for parent, child in graph.edges], states)
    if not any("probabilities" in own for own in nodes.values()):
        return network, None
    declared = dict(zip(network.names, network.states, strict=True))
    tables: dict[str, ForeignTable] = {}
    for name, own in nodes.items():
        if "probabilities" in own:
            axes = (*map(str, own.get("parents", ())), name)
            unknown = next((axis for axis in axes if axis not in declared), None)
            if unknown is not None:
                raise InputError(f"The node {brief(name)} has a parent {brief(unknown)} that is not in the graph.")
            values = np.asarray(own["probabilities"], dtype=np.float64)
            tables[name] = ForeignTable({axis: declared[axis] for axis in axes}, values)
    return network, cpts_of_tables(network, tables)
