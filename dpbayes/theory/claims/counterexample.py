"""A claim that fails, with the numbers of one setting at which it does, computed anew each time."""

from dataclasses import dataclass

from dpbayes.theory.claims.claim import Claim


@dataclass(frozen=True)
class Counterexample:
    """One setting, the true value there, the `printed` bound that it exceeds, and the `certified` one (NaN if none).

    All three are in `unit`. `setting` is a sentence.
    """

    claim: Claim
    setting: str
    truth: float
    printed: float
    certified: float
    unit: str

    @property
    def refutes(self) -> bool:
        """Whether the true value is above the printed bound."""
        return self.truth > self.printed
