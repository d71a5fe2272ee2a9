"""The released network as BIF, which pgmpy, pyAgrum, bnlearn and GeNIe read."""

import re

from dpbayes.base.validation import brief
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import ReleaseDocument, release_of
from dpbayes.releases.views.reading import probabilities_and_warning
from dpbayes.sources.bif import KEYWORDS, write_bif

_READ_BY_ALL = re.compile(r"[A-Za-z0-9_-]+")


def released_bif(document: ReleaseDocument, reading: Reading = Reading.NOISE_AWARE) -> str:
    """Return the network with the CPTs that the release gives: a posterior's mean, or the estimate that was released.

    Where rows rest on few points a comment in the first line says so. Errors: those of `release_of` and of
    `probabilities_and_warning`.
    """
    probabilities, remark = probabilities_and_warning(release_of(document), reading)
    return (f"// {remark}\n" if remark else "") + write_bif(document.request.network, probabilities)


def unread_elsewhere(network: Network) -> str:
    """Return a sentence about the first name or state that other readers of BIF may refuse, "" without one.

    In quotes, as they stand in the file, this program reads all names; pyAgrum 3.3 reads no quotes, nor a number with
    a point.
    """
    words = (*network.names, *(state for states in network.states for state in states))
    odd = next((word for word in words if not _READ_BY_ALL.fullmatch(word) or word in KEYWORDS), None)
    if odd is None:
        return ""
    return (
        f"Other programs may not read {brief(odd)} in a BIF file: many accept only letters, digits, _ and - in names. "
        "This program reads it."
    )
