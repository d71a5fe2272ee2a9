"""Data: choose a sample table, a synthetic one or your own, and state public values."""

from dpbayes.ui.pages.data import data_page
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import within_app

within_app()
data_page(Chosen.now())
