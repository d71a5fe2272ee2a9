"""Regression: how well private weights predict, and what they cost."""

from dpbayes.ui.pages.regression.page import regression_page
from dpbayes.ui.widgets.page import live

live(regression_page)
