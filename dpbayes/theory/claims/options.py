"""What the Bounds page lets a person set."""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter


class BoundClaim(enum.Enum):
    """A claim whose bound is shown."""

    THEOREM_1 = "Theorem 1: KL of the posterior"
    C_SQUARED = "Theorem 1 (c squared): McDiarmid mended"
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
    LEMMA_1 = "Lemma 1: sensitivity of the counts"
    COROLLARY_1 = "Corollary 1: privacy of noisy counts"
    RERUNS = "Section 3.2: privacy of trying again"
    LEMMA_2 = "Lemma 2: smoothness of a network"
    LEMMA_3 = "Lemma 3: concentration of a network’s prior"
    ALGORITHM_3 = "Algorithm 3: sensitivity of the MAP’s score"
    APPENDIX_D = "Appendix D: privacy of a regression draw"
    GRADIENT = "Appendix D: norm of the gradient"
    PROPORTIONAL = "Section 5.2: loss in proportion to the norm bound"
    ALT_REMARK_1 = "ALT-14 Remark 1: tables several records apart"
    ALT_THEOREM_1_I = "ALT-14 Theorem 1(i): KL of two posteriors"
    ALT_THEOREM_1_II = "ALT-14 Theorem 1(ii): KL under a concentrated prior"
    ALT_THEOREM_2_I = "ALT-14 Theorem 2(i): privacy of a draw"
    ALT_THEOREM_2_II = "ALT-14 Theorem 2(ii): a draw under a concentrated prior"
    ALT_THEOREM_3 = "ALT-14 Theorem 3 (4.3): answers an adversary needs"
    ALT_THEOREM_3_TAIL = "ALT-14 Theorem 3 (4.4): answers under a concentrated prior"
    ALT_ALGORITHM_1 = "ALT-14 Algorithm 1: privacy of several answers"
    ALT_LEMMA_1 = "ALT-14 Lemma 1: constant of several records"
    ALT_LEMMA_2 = "ALT-14 Lemma 2: error of an empirical law"
    ALT_LEMMA_3 = "ALT-14 Lemma 3: exponential records"
    ALT_LEMMA_4 = "ALT-14 Lemma 4: Laplace records"
    ALT_LEMMA_5 = "ALT-14 Lemma 5: binomial records"
    ALT_LEMMA_6 = "ALT-14 Lemma 6: normal records"
    ALT_LEMMA_7 = "ALT-14 Lemma 7: discrete networks"
    ALT_LEMMA_8 = "ALT-14 Lemma 8: total variation after several answers"
    NOTES_CANDIDATES = "Notes, Section 2.1: number of candidates"
    NOTES_REDUCTION = "Notes, Section 3.1: local sensitivity by its neighbours"
    NOTES_BETA = "Notes, Section 2.3.1: smoothing parameter"
    NOTES_GLOBAL = "Notes, Section 2.1: privacy with global sensitivity"
    NOTES_LOCAL = "Notes, Section 2.2: privacy with local sensitivity"
    NOTES_SMOOTH = "Notes, Section 2.3.1: privacy with smooth sensitivity"
    NOTES_LEMMA_2_1 = "Notes, Lemma 2.1: sliding"
    NOTES_LEMMA_2_2 = "Notes, Lemma 2.2: dilation"


class Axis(enum.Enum):
    """What a bound is drawn against."""

    EPSILON = "ε"
    RECORDS = "n"
    DELTA = "δ"
    T = "t"
    OMEGA = "ω"
    PRIOR = "prior"
    LOG_RATIO = "Lρ"
    LEVEL = "L"
    NORM_BOUND = "B"
    ANSWERS = "answers"
    RUNS = "runs"
    CHANGED = "records changed"
    SAMPLES = "samples"
    APART = "distance"
    SHIFT = "shift"
    RATE = "λ"
    SIZE = "records"

    @property
    def field(self) -> str:
        """The field of the options, or of the setting, that it stands for."""
        return "n" if self is Axis.RECORDS else self.name.lower()


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
    log_ratio: Annotated[
        float,
        Parameter(
            r"L \rho",
            low=1e-3,
            high=20,
            typical=0.5,
            log=True,
            title="log ratio",
            description="How far the tables’ difference moves the log-likelihood at most, in nats.",
        ),
    ]
    level: Annotated[
        float,
        Parameter("L", low=1e-3, high=1000, typical=2, log=True, title="constant L", description="Nats per unit."),
    ]
    rate: Annotated[float, Parameter(r"\lambda", low=1e-3, high=100, typical=1, log=True, title="rate")]
    concentration: Annotated[float, Parameter("c", low=1e-2, high=1000, typical=1, log=True, title="concentration")]
    shape: Annotated[float, Parameter("a", low=0.1, high=1000, typical=2, log=True, title="shape of Beta(a, a)")]
    norm_bound: Annotated[float, Parameter("B", low=1e-2, high=1000, typical=1, log=True, title="norm bound")]
    features: Annotated[int, Parameter("d", low=1, high=1000, typical=5, log=True, whole=True, title="features")]
    noise_variance: Annotated[
        float, Parameter(r"\sigma^2", low=1e-3, high=1000, typical=1, log=True, title="noise variance")
    ]
    answers: Annotated[int, Parameter("k", low=1, high=10**6, typical=10, log=True, whole=True, title="answers")]
    runs: Annotated[int, Parameter("R", low=1, high=1000, typical=10, log=True, whole=True, title="runs")]
    changed: Annotated[int, Parameter("k", low=1, high=1000, typical=5, log=True, whole=True, title="records changed")]
    samples: Annotated[int, Parameter("n", low=1, high=10**7, typical=100, log=True, whole=True, title="samples")]
    cells: Annotated[int, Parameter("m", low=2, high=100, typical=4, log=True, whole=True, title="cells")]
    apart: Annotated[float, Parameter(r"\rho", low=1e-3, high=1000, typical=1, log=True, title="distance")]
    error: Annotated[float, Parameter("d", low=1e-6, high=0.49, typical=0.05, log=True, title="share of games lost")]
    shift: Annotated[
        float, Parameter("s", low=0.0, high=10.0, typical=0.5, title="shift", description="In units of S(x).")
    ]
    size: Annotated[int, Parameter("n", low=1, high=10**5, typical=20, log=True, whole=True, title="records or trials")]
    sides: Annotated[int, Parameter("m", low=2, high=6, typical=2, whole=True, title="sides of the die")]
