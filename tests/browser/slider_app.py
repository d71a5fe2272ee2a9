"""A page with one number and its slider and box, for the browser tests.

`?slow=` seconds pass in every run, and `?after=` after the slider is shown; `?off=1` disables it, `?rests=1` hears when
it rests, `?alone=1` lets its part rerun
alone.
"""

import json
import time

import streamlit as st

from dpbayes.base.parameters import Parameter
from dpbayes.base.text import typed
from dpbayes.base.validation import InputError
from dpbayes.ui.widgets.slider import Wording, live_slider

EPSILON = Parameter(r"\epsilon", low=1e-3, high=1e3, typical=1.0, log=True, description="How much is lost.")


def main() -> None:
    st.session_state.setdefault("page_runs", 0)
    st.session_state.page_runs += 1
    (st.fragment(part) if "alone" in st.query_params else part)()


def part() -> None:
    state = st.session_state
    state.setdefault("epsilon", 1.0)
    state.setdefault("texts", [])
    state.setdefault("runs", 0)
    state.runs += 1
    time.sleep(float(st.query_params.get("slow", 0)))
    live_slider(
        Wording("Epsilon (ε)", "Epsilon", EPSILON.description),
        [typed(stop) for stop in sorted({*EPSILON.stops, state.epsilon})],
        typed(state.epsilon),
        key="number.epsilon",
        on_text=None if "off" in st.query_params else take,
        on_rest=rest if "rests" in st.query_params else None,
    )
    time.sleep(float(st.query_params.get("after", 0)))
    st.button("Ten", on_click=lambda: state.update(epsilon=10.0))
    if st.button("Note"):
        state.noted = state.epsilon
    shown = {name: state.get(name) for name in ("epsilon", "noted", "runs", "page_runs", "texts", "rested")}
    st.code(json.dumps(shown), language=None)


def rest() -> None:
    st.session_state.rested = [*st.session_state.get("rested", []), st.session_state.epsilon]


def take(text: str) -> None:
    st.session_state.texts.append(text)
    try:
        st.session_state.epsilon = EPSILON.checked("epsilon", text)
    except InputError:
        return


if __name__ == "__main__":
    main()
