"""The published documents: a request, its guarantee, and the document of a release."""

from dpbayes.releases.document.release import ReleaseDocument, read_document, release_of

__all__ = ["ReleaseDocument", "read_document", "release_of"]
