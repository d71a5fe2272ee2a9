"""The experiment of the Hellinger page.

frame = hellinger_study(Scenario(n=50, epsilon=2), seed=1).frame()
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameter_values
from dpbayes.base.randomness import stream
from dpbayes.experiments.frames import with_settings
from dpbayes.experiments.hellinger.errors import (
    DRAWS,
    EPSILONS,
    SWEEP_DRAWS,
    Accuracy,
    DieNoise,
    ErrorLaw,
    accuracy_against_epsilon,
    accuracy_against_sides,
    accuracy_against_throws,
    error_laws,
    sides_grid,
    throws_grid,
)
from dpbayes.experiments.hellinger.scenario import SIDES, DieMethod, Scenario

HERE = "the setting"
"""The name of the rows at the setting itself, which the boxes show."""

Settings = dict[str, int | float | str]


@dataclass(frozen=True, eq=False)
class HellingerStudy:
    """Quantiles of the errors at the setting, and along n, epsilon and m, with all other values as in `scenario`."""

    scenario: Scenario
    seed: int
    here: Accuracy
    along: tuple[Accuracy, ...]

    @property
    def settings(self) -> Settings:
        """All settings as plain values."""
        return settings_of(self.scenario, seed=self.seed)

    def frame(self) -> "pd.DataFrame":
        """Return the results in tidy form: one row for every setting and mechanism.

        `n`, `m`, `epsilon` and the proved guarantee are those of the row; the last columns are the other settings.
        """
        parts = [self._lines(HERE, self.here, DRAWS), *(self._lines(a.along, a, SWEEP_DRAWS) for a in self.along)]
        return with_settings(pd.concat(parts, ignore_index=True), settings_of(self.scenario, seed=self.seed))

    def _lines(self, along: str, accuracy: Accuracy, draws: int) -> "pd.DataFrame":
        frame, scenario = accuracy.frame(), self.scenario
        for name, value in (("n", scenario.n), ("m", scenario.sides), ("epsilon", scenario.epsilon)):
            frame[name] = frame[name].astype(type(value)) if name in frame else value
        places = list(zip(frame["n"], frame["m"], frame["epsilon"], strict=True))
        scenarios = {place: scenario.at(n=place[0], sides=place[1], epsilon=place[2]) for place in set(places)}
        methods = [DieMethod(name) for name in frame.pop("mechanism")]
        proved = [scenarios[place].certified(method) for place, method in zip(places, methods, strict=True)]
        first = {
            "along": along,
            **{name: frame.pop(name) for name in ("n", "m", "epsilon")},
            "mechanism": [method.value for method in methods],
            "proved epsilon": [guarantee.epsilon for guarantee in proved],
            "proved delta": [guarantee.delta for guarantee in proved],
            "simulated releases": [draws if method.is_laplace else 0 for method in methods],
        }
        return pd.concat([pd.DataFrame(first), frame], axis=1)


def hellinger_study(scenario: Scenario, *, seed: int) -> HellingerStudy:
    """Return the whole experiment. Errors: InputError if the die has more than MOST_SHOWN candidates."""
    here = at_setting(scenario, error_laws([scenario], noise_here(scenario, seed=seed)))
    noise = noise_along(seed=seed)
    along = (
        accuracy_against_throws(scenario, throws_grid(scenario), noise),
        accuracy_against_epsilon(scenario, EPSILONS, noise),
        accuracy_against_sides(scenario, sides_grid(scenario), noise),
    )
    return HellingerStudy(scenario, seed, here, along)


def at_setting(scenario: Scenario, laws: Mapping[DieMethod, ErrorLaw]) -> Accuracy:
    """Return the errors at the setting itself, which the boxes show."""
    errors = np.stack([law.quantiles() for law in laws.values()], axis=1)
    return Accuracy("epsilon", np.array([scenario.epsilon]), tuple(laws), errors)


def noise_here(scenario: Scenario, *, seed: int) -> DieNoise:
    """Return the noise of the releases simulated at the setting."""
    return DieNoise.draw(stream(seed, "hellinger"), sides=scenario.sides)


def noise_along(*, seed: int) -> DieNoise:
    """Return the noise of the releases simulated along a curve; it is the same for every curve."""
    return DieNoise.draw(stream(seed, "hellinger", "sweep"), sides=int(SIDES.high), draws=SWEEP_DRAWS)


# Settings


def settings_of(scenario: Scenario, *, seed: int) -> Settings:
    """Return all settings as plain values."""
    values = parameter_values(scenario)
    return {"m" if name == "sides" else name: value for name, value in values.items()} | {"seed": seed}
