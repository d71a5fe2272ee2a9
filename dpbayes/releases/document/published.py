"""A document of either kind from its bytes: tables of a given graph, or an adaptive release."""

from dpbayes.releases.document.adaptive import AdaptiveDocument, is_adaptive, read_adaptive
from dpbayes.releases.document.release import ReleaseDocument, read_document

Document = ReleaseDocument | AdaptiveDocument
"""Both kinds have `request`, `composed`, `drawn`, `content`, `network` and `tables`."""


def read_published(data: bytes) -> Document:
    """Return a document from its bytes; `verify` checks its content.

    Errors: InputError for another format or version, and for bytes that are not in canonical form.
    """
    return read_adaptive(data) if is_adaptive(data) else read_document(data)
