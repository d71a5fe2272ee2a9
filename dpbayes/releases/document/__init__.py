"""What leaves the curator: a request, what it promises, and the document of a release or of a learnt graph."""

from dpbayes.releases.document.release import ReleaseDocument, read_document, release_of

__all__ = ["ReleaseDocument", "read_document", "release_of"]
