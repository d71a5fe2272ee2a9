"""Bounds: what the theorems say, what is proved, and what is true."""

from dpbayes.ui.pages.bounds.page import bounds_page
from dpbayes.ui.widgets.page import live

live(bounds_page)
