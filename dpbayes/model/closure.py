"""The downward closure N_I of a network's families, and the transform of their tables."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.types import AnyArray, IntArray
from dpbayes.base.validation import InputError

MAX_FAMILY = 19
"""The largest family, a node with its parents; it has 2^size coefficients."""


@dataclass(frozen=True)
class Closure:
    """All subsets gamma of all families pi_i + {i}: the Fourier coefficients of a release.

    `families[i]` lists node indices, most significant first. Slot j of family i is the subset given by the bits of j.
    The slots of all families follow each other on one flat axis. For binary nodes, this axis has the length of the
    network's cell axis. [Zhang16] section 3.2, the set N_I.
    """

    families: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        widest = max(map(len, self.families), default=0)
        if widest > MAX_FAMILY:
            raise InputError(
                f"A node with {widest - 1} parents has 2^{widest} Fourier coefficients; "
                f"the limit is {MAX_FAMILY - 1} parents."
            )

    @cached_property
    def _places(self) -> tuple[dict[int, int], IntArray]:
        """The index of every member by its bit mask, in the order of their first slots, and that of every slot."""
        places = {0: 0}
        slots = []
        for family in self.families:
            subsets = [0]
            for node in reversed(family):
                subsets += [subset | (1 << node) for subset in subsets]
            slots += [places.setdefault(subset, len(places)) for subset in subsets]
        return places, np.array(slots, dtype=np.int64)

    @property
    def slots(self) -> IntArray:
        """For every slot on the flat axis, the position of its gamma in `members`."""
        return self._places[1]

    @cached_property
    def representatives(self) -> IntArray:
        """The first slot of every member: (|N_I|,)."""
        return np.unique(self.slots, return_index=True)[1]

    @cached_property
    def members(self) -> tuple[int, ...]:
        """The gammas as bit masks over nodes (bit i for node i); the empty set comes first."""
        return tuple(self._places[0])

    def __len__(self) -> int:
        return len(self._places[0])


def walsh(values: AnyArray, bits: int) -> AnyArray:
    """Return sum_x values[x] (-1)^<gamma, x> over the last `bits` axes of length two, for every gamma."""
    turned = values.reshape(-1, 2**bits).T  # sums then run over long rows
    for k in range(bits):
        pairs = turned.reshape(2**k, 2, -1)
        turned = np.stack((pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]), axis=1)
    return turned.reshape(2**bits, -1).T.reshape(values.shape)
