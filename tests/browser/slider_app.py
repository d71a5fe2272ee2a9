"""A page with nothing but sliders, for the browser tests; `?slow=` seconds pass in every run, `?off=1` disables one."""

import json
import time

import streamlit as st

from dpbayes.base.parameters import Parameter
from dpbayes.ui.widgets.slider import live_slider

EPSILON = Parameter(r"\epsilon", low=1e-3, high=1e3, typical=1.0, log=True)


def main() -> None:
    st.session_state.setdefault("epsilon", 1.0)
    st.session_state.setdefault("runs", 0)
    st.session_state.runs += 1
    time.sleep(float(st.query_params.get("slow", 0)))
    live_slider(
        "Epsilon (ε)",
        EPSILON.stops,
        st.session_state.epsilon,
        key="epsilon.slider",
        text="{:g}".format,
        on_move=lambda value: st.session_state.update(epsilon=value),
        disabled="off" in st.query_params,
    )
    st.button("Ten", on_click=lambda: st.session_state.update(epsilon=10.0))
    st.code(json.dumps({"epsilon": st.session_state.epsilon, "runs": st.session_state.runs}), language=None)


if __name__ == "__main__":
    main()
