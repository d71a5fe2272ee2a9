"""The released network as BIF, which pgmpy, pyAgrum, bnlearn and GeNIe read."""

from dpbayes.releases.document import ReleaseDocument, release_of
from dpbayes.sources.bif import write_bif


def released_bif(document: ReleaseDocument) -> str:
    """Return the network with the CPTs that the release gives: a posterior's mean, or the estimate that was released.

    Errors: those of `release_of`.
    """
    return write_bif(document.request.network, release_of(document).outcome.probabilities)
