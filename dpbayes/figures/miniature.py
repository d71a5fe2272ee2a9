"""A posterior that moves with epsilon, as one SVG picture that needs no script."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import BOUND, EXACT, PRIVATE
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray

WIDE, HIGH, LEFT, FLOOR = 520.0, 300.0, 20.0, 190.0
"""Units of the picture, of its margins, and of the line that densities stand on."""

TRACK = 262.0
"""Height at which the line of epsilons lies."""

PLAYS = "6s"
"""The picture moves once, for a few seconds: what moves for longer would have to be stoppable."""


def moving_posterior_svg(
    theta: FloatArray, exact: FloatArray, private: FloatArray, epsilons: Sequence[float], *, name: str
) -> str:
    """Return an SVG picture of an exact density and of a private one, which runs once through the epsilons.

    Args:
        theta: Points of the probability, in order: (G,).
        exact: The exact density there: (G,).
        private: The private density at each epsilon: (E, G).
        epsilons: The epsilons, in the order in which they are shown: (E,).
        name: What the probability is of.

    Returns:
        The text of the picture.
    """
    top = 1.15 * float(exact.max())
    paths = [_path(theta, density, top) for density in private]
    x = np.interp(np.log(epsilons), np.log([min(epsilons), max(epsilons)]), [LEFT, WIDE - LEFT])
    last = len(epsilons) - 1
    is_low = theta[exact.argmax()] < 0.5
    key_x, anchor = (WIDE - LEFT, ' text-anchor="end"') if is_low else (LEFT, "")  # away from the curves
    places = [f"{place:.1f}" for place in x]
    only = [[str(int(k == shown)) for shown in range(len(epsilons))] for k in range(len(epsilons))]
    labels = "".join(
        f'<text x="{WIDE / 2}" y="{TRACK + 28}" text-anchor="middle" font-size="18" opacity="{int(k == last)}">'
        f"ε = {numeral(epsilon)}{_moves('opacity', only[k], 'discrete')}</text>"
        for k, epsilon in enumerate(epsilons)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE:g} {HIGH:g}" fill="{BOUND}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="15">'
        f'<path d="{_path(theta, exact, top)}" fill="{EXACT}" fill-opacity="0.25" stroke="{EXACT}" stroke-width="2.5"/>'
        f'<path d="{paths[-1]}" fill="none" stroke="{PRIVATE}" stroke-width="3">{_moves("d", paths)}</path>'
        f'<path d="M{LEFT} {FLOOR}H{WIDE - LEFT}" stroke="{BOUND}"/>'
        f'<text x="{LEFT}" y="{FLOOR + 20}">0</text><text x="{WIDE - LEFT}" y="{FLOOR + 20}" text-anchor="end">1</text>'
        f'<text x="{WIDE / 2}" y="{FLOOR + 20}" text-anchor="middle">{name}</text>'
        f'<text x="{key_x}" y="20" fill="{EXACT}"{anchor}>exact posterior</text>'
        f'<text x="{key_x}" y="42" fill="{PRIVATE}"{anchor}>private posterior</text>'
        f'<path d="M{LEFT} {TRACK}H{WIDE - LEFT}" stroke="{BOUND}" stroke-width="3" stroke-linecap="round"/>'
        f'<circle cy="{TRACK}" cx="{places[-1]}" r="8" fill="{EXACT}">{_moves("cx", places)}</circle>'
        f"{labels}</svg>"
    )


def _path(theta: FloatArray, density: FloatArray, top: float) -> str:
    x = LEFT + theta * (WIDE - 2 * LEFT)
    y = FLOOR - np.minimum(density / top, 1.0) * (FLOOR - 12)
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))


def _moves(attribute: str, values: Sequence[str], mode: str = "linear") -> str:
    """Return the animation of an attribute; a discrete one changes halfway between two values of a linear one."""
    steps = max(1, len(values) - 1)
    times = ";".join(["0", *(f"{(k - 0.5) / steps:.4f}" for k in range(1, len(values)))])
    when = f'keyTimes="{times}" ' if mode == "discrete" else ""
    return (
        f'<animate attributeName="{attribute}" values="{";".join(values)}" dur="{PLAYS}" calcMode="{mode}" {when}'
        'repeatCount="1" fill="freeze"/>'
    )
