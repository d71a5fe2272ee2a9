"""The audit of Laplace noise on counts that are then fitted: that of the noisy counts, which the release contains."""

from dpbayes.audit.laplace import audit_of_counts
from dpbayes.mechanisms.consistent import ConsistentLaplace

AUDIT = audit_of_counts(ConsistentLaplace)
