"""Robustness: how far one record moves a posterior as the prior concentrates."""

from dpbayes.ui.pages.robustness.page import robustness_page
from dpbayes.ui.widgets.page import live

live(robustness_page)
