"""Arrays in, Plotly figures out: no Streamlit, no randomness, no computation of results."""
