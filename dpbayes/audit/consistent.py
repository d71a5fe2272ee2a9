"""The audit of Laplace noise on counts that are fitted afterwards: the noisy counts are released too."""

from dpbayes.audit.laplace import audit_of_counts
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import ConsistentLaplace
from dpbayes.mechanisms.release import ReleasedPosterior


def _noisy(released: ReleasedPosterior) -> FloatArray:
    if released.noisy is None:
        raise InputError("This release does not contain the noisy counts from which its tables were computed.")
    return released.noisy


AUDIT = audit_of_counts(ConsistentLaplace, _noisy)
