"""The trivial page with the dashboard's own slider: the baseline of a drag."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from dpbayes.ui.widgets.slider import Wording, live_slider

x = np.linspace(0, 1, 161)
width = st.session_state.setdefault("width", 20)
live_slider(
    Wording("width", "width"),
    [str(stop) for stop in range(1, 42)],
    str(width),
    key="number.width",
    on_text=lambda text: st.session_state.update(width=int(text)),
)
st.plotly_chart(go.Figure(go.Scatter(x=x, y=np.exp(-(((x - 0.5) * width) ** 2)))), key="curve")
