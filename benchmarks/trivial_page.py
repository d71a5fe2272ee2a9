"""The least page that a slider can repaint: one slider, one chart. The baseline of the app's own answer."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

x = np.linspace(0, 1, 161)
width = st.slider("width", 1, 41, 20)
st.plotly_chart(go.Figure(go.Scatter(x=x, y=np.exp(-(((x - 0.5) * width) ** 2)))), key="curve")
