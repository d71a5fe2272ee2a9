"""All claims of the papers, and the counterexamples."""

import inspect
from collections.abc import Callable
from types import ModuleType

from dpbayes.theory.claims.claim import Claim, Counterexample
from dpbayes.theory.claims.exhibit import Exhibit
from dpbayes.theory.dimitrakakis14 import answers, constants, draws, families, robustness
from dpbayes.theory.notes import lemmas as notes_lemmas
from dpbayes.theory.notes import mechanisms as notes_mechanisms
from dpbayes.theory.notes import sensitivities
from dpbayes.theory.zhang16 import counts as updates
from dpbayes.theory.zhang16 import fourier, map, rebuilt_tables, regression, sampling, stealth, summary
from dpbayes.theory.zhang16 import smoothness as lipschitz
from dpbayes.theory.zhang16.posterior_kl import bounds as posterior_kl_bounds
from dpbayes.theory.zhang16.posterior_kl import counterexamples as posterior_kl_counterexamples
from dpbayes.theory.zhang16.posterior_kl import exhibits as posterior_kl_exhibits

MODULES: tuple[ModuleType, ...] = (
    posterior_kl_exhibits,
    updates,
    posterior_kl_bounds,
    fourier,
    rebuilt_tables,
    stealth,
    lipschitz,
    sampling,
    map,
    regression,
    summary,
    robustness,
    draws,
    answers,
    constants,
    families,
    sensitivities,
    notes_mechanisms,
    notes_lemmas,
)
"""The topics, each with claims and EXHIBITS, in the order of the page."""


def claims_of(module: ModuleType) -> tuple[Claim, ...]:
    """Return the claims that a topic defines, in their order; a topic imports no claim by its name."""
    return tuple(value for value in vars(module).values() if isinstance(value, Claim))


CLAIMS: tuple[Claim, ...] = tuple(claim for module in MODULES for claim in claims_of(module))

COUNTEREXAMPLES: tuple[Callable[[], Counterexample], ...] = tuple(
    function
    for module in (*MODULES, posterior_kl_counterexamples)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if name.startswith("counterexample_")
    and function.__module__ == module.__name__
    and inspect.signature(function).return_annotation is Counterexample
)
"""Functions without required arguments that compute a counterexample to a claim."""


EXHIBITS: dict[str, Exhibit] = {
    name: exhibit for module in MODULES for name, exhibit in getattr(module, "EXHIBITS", {}).items()
}
"""All claims with a bound on the page, by a unique name."""


def counterexamples_of(claim: Claim) -> tuple[Counterexample, ...]:
    """Compute all counterexamples to this claim."""
    topics = {_topic(module.__name__) for module in MODULES if claim in claims_of(module)}
    makers = (make for make in COUNTEREXAMPLES if _topic(make.__module__) in topics)
    return tuple(example for make in makers if (example := make()).claim == claim)


def _topic(module: str) -> str:
    """Return the topic that a module is part of: itself, or its folder below the paper's."""
    return ".".join(module.split(".")[:4])
