"""Making a learnt graph: it is chosen by exact noise, and becomes a document."""

from datetime import datetime

from dpbayes.base.validation import InputError
from dpbayes.mechanisms.noise.confirmed import opendp
from dpbayes.mechanisms.structure.choice import draw_structure
from dpbayes.model.dataset import Dataset
from dpbayes.releases.certificate import Composed
from dpbayes.releases.make import provenance_at
from dpbayes.releases.structure.document import written_structure
from dpbayes.releases.structure.request import StructureRequest


def require_drawable(request: StructureRequest, data: Dataset) -> None:
    """Refuse, before anything is spent, a table that is not the request's, and a machine without OpenDP.

    Errors: InputError, which says nothing of the records.
    """
    if (data.names, data.states) != (request.columns.names, request.columns.states) or data.n != request.n:
        raise InputError("The table has not the columns and the number of records that the request states.")
    opendp()


def draw_structure_document(request: StructureRequest, data: Dataset, composed: Composed, time: datetime) -> bytes:
    """Draw a graph from the operating system's randomness and return its document: to be called once it is paid for.

    Errors: InputError, as of `require_drawable` and `draw_structure`.
    """
    require_drawable(request, data)
    chosen = draw_structure(request.choice, data)
    return written_structure(request, chosen.network, chosen.joined, composed, provenance_at(time))
