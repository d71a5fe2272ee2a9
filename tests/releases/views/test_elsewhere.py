"""The BIF file of a release as another program reads it, which is installed in an environment of its own."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpbayes.model.network import Network
from dpbayes.releases.document import Document, read_document
from dpbayes.releases.views.reading import released_bif
from tests.conftest import IS_THOROUGH
from tests.releases.asking import counted, drawn, request_of
from tests.strategies import ASIA

READER = """
import itertools, json, sys
import pyagrum

network = pyagrum.loadBN(sys.argv[1])
rows = []
for name in network.names():
    parents = [network.variable(parent).name() for parent in network.parents(name)]
    labels = {each: network.variable(each).labels() for each in [name, *parents]}
    for given in itertools.product(*(labels[parent] for parent in parents)):
        row = network.cpt(name)[dict(zip(parents, given))]
        rows.append([name, dict(zip(parents, given)), dict(zip(labels[name], map(float, row)))])
json.dump(rows, sys.stdout)
"""

Reading = Callable[[Document], Any]


def network_of(*words: str) -> Network:
    """Return a chain of two nodes of which each word is a name or a state."""
    first, second, *states = words
    return Network.from_edges([first, second], [(first, second)], {first: states, second: states})


PLAIN = {
    "Asia": ASIA,
    "digits and hyphens": network_of("1a", "b-c", "0", "1", "x-1"),
    "capitals": network_of("A", "a", "Yes", "no_answer"),
}


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Reading:
    """A function that writes a release's BIF and returns its rows as pyAgrum reads them; None where it refuses."""
    folder = tmp_path_factory.mktemp("elsewhere")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    python = str(folder / "env" / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "pyagrum==3.3.1"], check=True)

    def reading(document: Document) -> Any:
        file: Path = folder / "release.bif"
        file.write_text(released_bif(document), encoding="utf-8")
        ran = subprocess.run([python, "-c", READER, str(file)], capture_output=True, text=True)
        return json.loads(ran.stdout) if ran.returncode == 0 else None

    return reading


def document_of(network: Network) -> Document:
    return read_document(drawn(request_of(network), counted(network)))


@pytest.mark.skipif(not IS_THOROUGH, reason="it installs another program")
@pytest.mark.parametrize("name", PLAIN)
def test_another_program_reads_every_released_probability(name, read: Reading):
    network, document = PLAIN[name], document_of(PLAIN[name])
    probabilities, rows = document.tables.joint_noise_aware().mean, read(document)
    assert len(rows) == network.row_count
    for node, given, law in rows:
        i = network.position[node]
        assert set(given) == {network.names[j] for j in network.families[i][:-1]}
        at = tuple(network.states[j].index(given[network.names[j]]) for j in network.families[i][:-1])
        expected = np.asarray(network.table(probabilities, i))[at]
        np.testing.assert_allclose([law[state] for state in network.states[i]], expected, rtol=1e-6)
