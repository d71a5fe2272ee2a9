"""The distribution of a column, which only the curator may see."""

from collections.abc import Sequence

import pandas as pd

from dpbayes.base.types import IntArray
from dpbayes.figures.structure import column_figure
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import data_and_download


def column_chart(name: str, states: Sequence[str], records: IntArray) -> None:
    """Draw the number of records in each state of a column, and offer the numbers."""
    chart(
        column_figure(states, records.astype(float), name=name),
        key="column.chart",
        alt=f"Bars: the number of records in each state of {name}.",
    )
    data_and_download(lambda: pd.DataFrame({"state": states, "records": records}), name="column", curator_only=True)
