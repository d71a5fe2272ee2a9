"""pgmpy: its objects and its files, both ways, and the same answers; and the files of pyAgrum."""

import inspect
from collections.abc import Callable
from doctest import DocTestParser, DocTestRunner
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.types import FloatArray
from dpbayes.model.cpts import random_cpts
from dpbayes.model.network import Network
from tests.strategies import random_networks

pytestmark = [pytest.mark.interchange, pytest.mark.filterwarnings("default")]

CASES = [
    (network, random_cpts(network, np.random.default_rng(1)))
    for network in random_networks(8, most_nodes=6, states=(2, 4))
]
CASES += [dp.load_named(key) for key in ("asia", "alarm")]
EVIDENCE = {"smoke": "yes", "dysp": "no"}
ODD = Network.from_edges(["a b", "<c>"], [("a b", "<c>")], {"a b": ("x y", "&"), "<c>": ("no", "it's", '"')})


def renamed(network: Network) -> dict[str, tuple[tuple[str, ...], frozenset[str]]]:
    """Return a network's families by name: other programs keep no order of the nodes."""
    families = zip(network.names, network.states, network.parents, strict=True)
    return {name: (states, frozenset(parents)) for name, states, parents in families}


def ordered(network: Network, read: tuple[Network, FloatArray]) -> FloatArray:
    """Return the CPTs that were read, in the order of the network's own nodes."""
    again, probabilities = read
    assert renamed(again) == renamed(network)
    graph = again.to_networkx(probabilities)
    turned = network.to_networkx()
    for name in network.names:
        turned.nodes[name].update(graph.nodes[name])
    own, cpts = dp.from_networkx(turned)
    assert own == network
    assert cpts is not None
    return cpts


@pytest.mark.parametrize(("network", "probabilities"), CASES)
def test_objects_of_pgmpy_are_the_same_after_a_round_trip(network: Network, probabilities: FloatArray) -> None:
    model = dp.to_pgmpy(network, probabilities)
    assert model.check_model()
    np.testing.assert_allclose(ordered(network, dp.from_pgmpy(model)), probabilities, rtol=1e-14)


def test_odd_names_pass_through() -> None:
    probabilities = random_cpts(ODD, np.random.default_rng(1))
    np.testing.assert_allclose(ordered(ODD, dp.from_pgmpy(dp.to_pgmpy(ODD, probabilities))), probabilities)


def test_all_three_answer_a_query_alike(tmp_path: Path) -> None:
    import pyagrum
    from pgmpy.inference import VariableElimination

    network, probabilities = dp.load_named("asia")
    expected = dp.query(network, probabilities, "lung", EVIDENCE)
    model = dp.to_pgmpy(network, probabilities)
    np.testing.assert_allclose(VariableElimination(model).query(["lung"], EVIDENCE).values, expected, rtol=1e-9)
    file = tmp_path / "asia.bif"
    file.write_text(dp.write_bif(network, probabilities), encoding="utf-8")
    inference = pyagrum.LazyPropagation(pyagrum.loadBN(str(file)))
    inference.setEvidence(EVIDENCE)
    # pyAgrum reads the numbers of a file in single precision.
    np.testing.assert_allclose(inference.posterior("lung").toarray(), expected, rtol=1e-6)


def pgmpy_bif(path: Path) -> Any:
    from pgmpy.readwrite import BIFReader

    return BIFReader(str(path)).get_model()


def write_pgmpy_bif(model: Any, path: Path) -> None:
    from pgmpy.readwrite import BIFWriter

    BIFWriter(model).write_bif(str(path))


@pytest.mark.parametrize("key", ["asia", "alarm"])
def test_files_of_pgmpy(tmp_path: Path, key: str) -> None:
    network, probabilities = dp.load_named(key)
    ours, theirs = tmp_path / "ours.bif", tmp_path / "theirs.bif"
    ours.write_text(dp.write_bif(network, probabilities), encoding="utf-8")
    model = pgmpy_bif(ours)
    np.testing.assert_allclose(ordered(network, dp.from_pgmpy(model)), probabilities, rtol=1e-9)
    write_pgmpy_bif(model, theirs)
    read = dp.read_bif(theirs.read_text(encoding="utf-8"))
    np.testing.assert_allclose(ordered(network, read), probabilities, rtol=1e-9)


@pytest.mark.parametrize("key", ["asia", "alarm"])
def test_files_of_pyagrum(tmp_path: Path, key: str) -> None:
    """It writes six digits."""
    import pyagrum

    network, probabilities = dp.load_named(key)
    ours, theirs = tmp_path / "ours.bif", tmp_path / "theirs.bif"
    ours.write_text(dp.write_bif(network, probabilities), encoding="utf-8")
    pyagrum.saveBN(pyagrum.loadBN(str(ours)), str(theirs))
    read = dp.read_bif(theirs.read_text(encoding="utf-8"))
    np.testing.assert_allclose(ordered(network, read), probabilities, atol=2e-6)


@pytest.mark.parametrize("function", [dp.to_pgmpy, dp.from_pgmpy])
def test_the_whole_example_of_a_docstring_runs(function: Callable[..., object]) -> None:
    """The tests of the public names leave out the lines that need other packages."""
    text = (inspect.getdoc(function) or "").replace("# doctest: +SKIP", "")
    example = DocTestParser().get_doctest(text, {"dp": dp}, function.__name__, None, None)
    failures: list[str] = []
    outcome = DocTestRunner().run(example, out=failures.append)
    assert outcome.attempted > 1
    assert not outcome.failed, "".join(failures)
