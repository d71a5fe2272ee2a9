"""Whether released steps are a course that the plan allows: each choice at its price among its candidates.

The steps are followed from the first on, without records. After each step, the released results determine which step
comes next, how many candidates it has, and what it may cost. This cannot find out whether the choices were made from
certain records.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.choices import Candidates, Choose
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import Event, Measurement, PairChoice, Process, course

_ORDER = "The steps are in an order that the plan does not allow."


def require_course(plan: AdaptivePlan, start: Process, events: Iterable[Event]) -> None:
    """Refuse steps that the plan does not allow after a `start`. Errors: InputError, which states the first deviation.

    A measurement may cost at most what the plan gives its stage. A choice must have the plan's cost, and the number of
    candidates that the earlier steps leave.
    """
    stated = tuple(events)
    released = _Released(deque(stated))
    process = course(plan, start, released)
    if released.rest:
        raise InputError("There are more steps than the plan allows.")
    if process.events != stated:
        raise InputError('A choice has the wrong value of "taken".')


@dataclass(frozen=True, eq=False)
class _Released:
    """The steps of a release that are left, each checked when its turn comes."""

    rest: deque[Event]

    def measured(self, stage: str, process: Process, parents: Sequence[tuple[int, ...]], limit: Fraction) -> Process:
        event = self._next(stage)
        if not isinstance(event, Measurement):
            raise InputError(_ORDER)
        if event.parents != tuple(parents):
            raise InputError("A measured graph is not the one that was chosen.")
        after = process.after(event)
        if after.measured.cost > limit:
            raise InputError(f'The measurement of "{stage}" costs more than the plan gives this stage.')
        return after

    def choosing(self, stage: str, expected: Callable[[], tuple[FloatArray, IntArray]]) -> Choose:
        return lambda among: self._chosen(stage, among)

    def _chosen(self, stage: str, among: Candidates) -> tuple[int, int] | None:
        event = self._next(stage)
        if not isinstance(event, PairChoice):
            raise InputError(_ORDER)
        chosen, candidates = event.chosen, len(among.first)
        if chosen.cost != among.cost:
            raise InputError("The cost of a choice differs from its cost in the plan.")
        if chosen.candidates != candidates:
            raise InputError(
                f"A choice states {chosen.candidates:,} candidates, but the earlier steps leave {candidates:,}."
            )
        pair = chosen.pair
        if pair is not None and not np.any((among.first == pair[0]) & (among.second == pair[1])):
            raise InputError("A chosen pair of columns was not among the candidates.")
        return pair

    def _next(self, stage: str) -> Event:
        if not self.rest or self.rest[0].stage != stage:
            raise InputError(_ORDER)
        return self.rest.popleft()
