"""A small table and an adaptive release of it, the same in every run."""

from fractions import Fraction

import numpy as np

from dpbayes.base.amounts import Rho
from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.model.dataset import Dataset
from dpbayes.releases.document.document import Composed, Provenance, document_bytes
from dpbayes.releases.document.request import AdaptiveRequest
from dpbayes.releases.document.sampled import SampledSteps

PLAN = AdaptivePlan(epsilon=Fraction(5), delta=Fraction(1, 10**5))
PURE = plan_for(Fraction(5), Fraction(0))
DRAWN = Provenance("2026-03-31T12:00:00Z", "0.1.0", "0.14.2", "3.12.0")


def table(n: int = 300) -> Dataset:
    """Records in which b and c follow from a, and d from nothing."""
    rng = np.random.default_rng(3)
    a, d = rng.integers(0, 2, n), rng.integers(0, 2, n)
    states = (("no", "yes"), ("no", "yes"), ("low", "mid", "high"), ("no", "yes"))
    return Dataset(("a", "b", "c", "d"), states, np.column_stack([a, a, 2 * a, d]))


DATA = table()
REQUEST = AdaptiveRequest.of("garden", DATA, PLAN, {"c": "low"})


PURE_REQUEST = AdaptiveRequest.of("garden", DATA, PURE)


def drawn_with_a_generator() -> bytes:
    """Return a document like a real one."""
    process = carried_out(PLAN, DATA, SimulatedDraws(np.random.default_rng(2)))
    return document_bytes(SampledSteps(REQUEST, process), Composed(0, Rho(Fraction(0))), DRAWN)


def drawn_under_pure_privacy() -> bytes:
    """Return a document like a real one, of a dataset with a budget in epsilon."""
    process = carried_out(PURE, DATA, SimulatedDraws(np.random.default_rng(2)))
    return document_bytes(SampledSteps(PURE_REQUEST, process), Composed(), DRAWN)
