"""The published documents: a request, its guarantee, and the document of a release of either kind."""

from dpbayes.releases.document.release import AdaptiveDocument, Document, ReleaseDocument, read_document, release_of

__all__ = ["AdaptiveDocument", "Document", "ReleaseDocument", "read_document", "release_of"]
