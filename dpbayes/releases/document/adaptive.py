"""The steps of an adaptive release as JSON: its choices and measurements in their order."""

from collections.abc import Mapping
from typing import Any

from dpbayes.base.amounts import PrivacyMeasure, amount_in, amount_text, measure_of, number_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.adaptive.choices import ChosenPair
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import Event, Measurement, PairChoice, Process, most_steps
from dpbayes.releases.document.canonical import fraction, fraction_text
from dpbayes.releases.document.request import AdaptiveRequest
from dpbayes.releases.document.shapes import require_shape

_CHOICE = {"stage": str, "pair": [int], "candidates": int, "taken": bool}
_MEASUREMENT = {"stage": str, "parents": [[int]], "prices": [int], "integers": [int]}


def steps_content(process: Process) -> list[dict[str, object]]:
    """Return the steps of a process as JSON has them."""
    return [_written(event) for event in process.events]


def process_from(request: AdaptiveRequest, steps: list[Mapping[str, Any]]) -> Process:
    """Return the process of a request with these steps. Errors: InputError."""
    process, columns = Process.start(request.plan, request.columns, request.n), len(request.columns.names)
    if len(steps) > most_steps(request.plan, columns):
        raise InputError("The adaptive release has more steps than its plan allows.")
    for step in steps:
        process = process.after(_read(step, columns, request.plan))
    return process


def _written(event: Event) -> dict[str, object]:
    if isinstance(event, Measurement):
        parents = [list(own) for own in event.parents]
        return {
            "stage": event.stage,
            "parents": parents,
            "prices": list(event.prices),
            "integers": list(event.integers),
        }
    chosen = event.chosen
    return {
        "stage": event.stage,
        "pair": list(chosen.pair or ()),
        "candidates": chosen.candidates,
        measure_of(chosen.cost).value: fraction_text(number_of(chosen.cost)),
        "taken": chosen.is_taken,
    }


def _read(step: Mapping[str, Any], columns: int, plan: AdaptivePlan) -> Event:
    measure = plan.measure
    require_shape("A step", step, _MEASUREMENT if "prices" in step else _CHOICE | {measure.value: str})
    if "prices" in step:
        parents = tuple(tuple(own) for own in step["parents"])
        places = [j for own in parents for j in own]
        prices = step["prices"]
        if len(parents) != columns or not all(0 <= j < columns for j in places):
            raise InputError("A measurement must name the parents of every column by their places.")
        if not prices or min(prices) < 0 or max(prices) >= 1 << 60:
            raise InputError("The prices of a measurement must be integers that are not negative.")
        if measure is PrivacyMeasure.RHO and prices[0]:
            raise InputError("The price of the empty set must be 0.")
        return Measurement(step["stage"], parents, tuple(prices), tuple(step["integers"]))
    pair = step["pair"]
    if pair and (len(pair) != 2 or not all(0 <= j < columns for j in pair)):
        raise InputError("A choice must name two columns by their places, or none.")
    chosen = (pair[0], pair[1]) if pair else None
    cost = fraction(f"The {measure.value} of a choice", step[measure.value])
    if not 0 < cost <= plan.total:
        raise InputError(f"The {measure.value} of a choice must be above 0 and at most {amount_text(plan.total)}.")
    return PairChoice(step["stage"], ChosenPair(chosen, step["candidates"], amount_in(measure, cost), step["taken"]))
