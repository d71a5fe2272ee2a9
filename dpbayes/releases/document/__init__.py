"""The published documents: a request, its guarantee, and the document of a release of either kind."""

from dpbayes.releases.document.document import Document, read_document
from dpbayes.releases.document.sampled import SampledSteps, SampledTables

__all__ = ["Document", "SampledSteps", "SampledTables", "read_document"]
