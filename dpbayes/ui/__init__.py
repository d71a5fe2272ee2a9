"""The only place, with app.py and pages/, that knows Streamlit."""
