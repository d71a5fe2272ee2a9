"""What a node in a state is called in a row's or a cell's name, and such a name taken apart."""

from collections.abc import Sequence


def assignment(name: str, state: str) -> str:
    """Return "smoke=yes", or "age < 25" where the state is itself a comparison."""
    return f"{name} {state}" if state.startswith(("<", ">")) else f"{name}={state}"


def read_in_turn(text: str, options: Sequence[Sequence[str]]) -> tuple[int, ...] | None:
    """Return which option of each list makes up the text, joined by commas: the first way of several, or None."""
    # A state may hold a comma: the places that each list can begin at are found first, then those that lead to the end.
    pieces = [[f"{option}, " for option in texts] for texts in options[:-1]] + [list(options[-1])]
    reached = [{0}]
    for texts in pieces:
        reached.append({at + len(option) for at in reached[-1] for option in texts if text.startswith(option, at)})
    useful = [reached.pop() & {len(text)}]
    for texts, places in zip(reversed(pieces), reversed(reached), strict=True):
        useful.append({at for at in places if _first_that_leads(text, texts, at, useful[-1]) is not None})
    if not useful.pop():
        return None
    codes, at = [], 0
    for texts, onward in zip(pieces, reversed(useful), strict=True):
        code = _first_that_leads(text, texts, at, onward)
        assert code is not None
        codes.append(code)
        at += len(texts[code])
    return tuple(codes)


def _first_that_leads(text: str, options: Sequence[str], at: int, onward: set[int]) -> int | None:
    """Return the first option that the text goes on with at a place, to end at one of the places `onward`."""
    fits = (k for k, option in enumerate(options) if at + len(option) in onward and text.startswith(option, at))
    return next(fits, None)
