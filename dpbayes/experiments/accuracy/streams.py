"""Random streams by name that do not notice where work is cut."""

import numpy as np

from dpbayes.base.randomness import stream


class Streams:
    """The streams of one study by name. Each goes on from repeat to repeat, so that blocks may be cut anywhere."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._streams: dict[tuple[str | int, ...], np.random.Generator] = {}
        self._copies: dict[str, list[np.random.Generator]] = {}

    def __call__(self, *labels: str | int) -> np.random.Generator:
        """Return the stream of this name, where its last use left it."""
        if labels not in self._streams:
            self._streams[labels] = stream(self.seed, "accuracy", *labels)
        return self._streams[labels]

    def copies(self, name: str, copies: int) -> list[np.random.Generator]:
        """Return copies of the stream of this name. Each returns the same numbers, and goes on from its last use."""
        kept = self._copies.setdefault(name, [])
        kept += [stream(self.seed, "accuracy", name) for _ in range(len(kept), copies)]
        return kept[:copies]
