"""The same from Python: the increment that is enough for a probability, or how often one is enough."""

import math

from dpbayes.mechanisms.stealth import Sense
from dpbayes.ui.pages.stealth.simulations import NEAREST, Stealth
from dpbayes.ui.session.options.stealth import StealthAim, StealthOptions
from dpbayes.ui.widgets.from_python import (
    FACE,
    STREAM,
    mechanism_in_python,
    network_in_python,
    program,
    value_in_python,
)

PROVED = "dpbayes.theory.zhang16.stealth"


def python_of(stealth: Stealth, options: StealthOptions, t: float, *, is_proved: bool) -> str:
    """Return the code that gives the t at hand, as simulated or proved, or for a given t how often it is enough."""
    if is_proved:
        return _proved(stealth, options, t)
    asked = f"needed.increment({options.target!r})"
    last = _rounded_up(asked, 4) if options.aim is StealthAim.TARGET else f"needed.probability({t!r})"
    law = "law=mechanism.noise_law.drawn_once"
    return program(
        FACE,
        STREAM,
        "from dpbayes.mechanisms.stealth import Sense, UnitNoise, simulate",
        "import math" if options.aim is StealthAim.TARGET else "",
        network_in_python(stealth.network),
        mechanism_in_python(stealth.mechanism),
        'rng = stream(0, "stealth")',
        f"noise = UnitNoise.draw(network, mechanism.calibration, rng, draws={stealth.draws!r}, {law})",
        f"needed = simulate(Sense.{options.sense.name}, noise, mechanism)",
        f"print({last})",
    )


def _proved(stealth: Stealth, options: StealthOptions, t: float) -> str:
    is_table = options.sense is Sense.TABLE
    parts = [FACE, network_in_python(stealth.network), value_in_python("noise", stealth.noise)]
    if options.aim is StealthAim.TARGET:
        proved = "certified_table_increment" if is_table else "certified_increment"
        target = min(options.target, NEAREST)
        last = _rounded_up(f"{proved}(network, {target!r}, noise=noise)", 2 - math.floor(math.log10(t)) if t else 0)
        parts.append("import math")
    else:
        proved = "negative_table_probability" if is_table else "negative_marginal_probability"
        last = f"1 - {proved}(network, noise=noise, t={t!r})"
    return program(*parts, f"from {PROVED} import {proved}", f"print({last})")


def _rounded_up(number: str, digits: int) -> str:
    """Return the code that rounds a number up as the page does: a larger t is enough as well."""
    return f"math.ceil({number} * 10**{digits}) / 10**{digits}"
