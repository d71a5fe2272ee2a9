"""What the Bounds page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.parameters import Choice, Parameter


class BoundClaim(enum.Enum):
    """A claim whose bound is shown."""

    THEOREM_1 = "Theorem 1: KL of the posterior"
    CLOSED_FORM = "Theorem 1 (with U): KL of the posterior"
    EXPECTATION = "Theorem 1 (U): mean KL"
    REFINED = "Theorem 1 (refined): mean KL"
    ORDER = "Theorem 1 (last display): order of the KL"
    PROPOSITION_1 = "Proposition 1: largest noise"
    CLIPPED = "Proposition 1 (clipped): largest change of a count"
    COROLLARY_2 = "Corollary 2: noise of Fourier coefficients"
    THEOREM_3 = "Theorem 3: error of a Fourier table"
    COROLLARY_3 = "Corollary 3: negative Fourier tables"
    THEOREM_4_1 = "Theorem 4(1): privacy of trimmed draws"
    THEOREM_4_2 = "Theorem 4(2): privacy under a concentrated prior"
    APPENDIX_C2 = "Appendix C.2: trimming for epsilon"
    COROLLARY_4 = "Corollary 4: privacy of the printed MAP"
    LEMMA_4 = "Lemma 4: utility of the private MAP"


class Axis(enum.Enum):
    """What a bound is drawn against."""

    EPSILON = "ε"
    RECORDS = "n"
    DELTA = "δ"
    T = "t"
    OMEGA = "ω"
    PRIOR = "prior"


@dataclass(frozen=True, kw_only=True)
class BoundsOptions:
    """The Bounds page: the claim, what it is drawn against, and what else it depends on."""

    claim: Annotated[BoundClaim, Choice(BoundClaim, title="claim")]
    axis: Annotated[Axis, Choice(Axis, title="drawn against")]
    delta: Annotated[
        float,
        Parameter(
            r"\delta",
            low=1e-9,
            high=1 - 1e-9,
            typical=0.05,
            log=True,
            title="delta",
            description="How often the bound may fail: a probability between 0 and 1.",
        ),
    ]
    t: Annotated[float, Parameter("t", low=1e-3, high=50, typical=0.2, log=True, title="stealth increment")]
    omega: Annotated[
        float,
        Parameter(
            r"\omega", low=1e-4, high=0.49, typical=0.1, log=True, title="omega", description="The least probability."
        ),
    ]
    gap: Annotated[
        float,
        Parameter(
            "2t", low=1e-3, high=1, typical=0.2, log=True, title="shortfall", description="Below the best score."
        ),
    ]
    start: Annotated[float, Parameter("L_0", low=0.1, high=100, typical=10, log=True, title="L0")]
