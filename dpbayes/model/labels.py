"""The name of a node in a state, in the names of rows and cells."""


def assignment(name: str, state: str) -> str:
    """Return "smoke=yes", or "age < 25" where the state is itself a comparison."""
    return f"{name} {state}" if state.startswith(("<", ">")) else f"{name}={state}"


def statement(name: str, state: str) -> str:
    """Return "smoke = yes", or "age < 25" where the state is itself a comparison."""
    return f"{name} {state}" if state.startswith(("<", ">")) else f"{name} = {state}"
