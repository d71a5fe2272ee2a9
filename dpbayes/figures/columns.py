"""The picture of one column's records."""

from collections.abc import Sequence

from dpbayes.base.looks import EXACT
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure, distinct_labels, figure_of, names_axis, plain, titled


def column_figure(states: Sequence[str], counts: FloatArray, *, name: str) -> Figure:
    """Draw the number of records in each state (states,) of one column."""
    bars = {
        "type": "bar",
        "x": distinct_labels(states, 24),
        "y": counts,
        "marker": {"color": EXACT},
        "showlegend": False,
    }
    return figure_of([bars], x=names_axis(plain(name)), y=titled("records (not private)", automargin=True), height=300)
