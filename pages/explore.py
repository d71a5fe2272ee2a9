"""Explore: choose a mechanism and epsilon; see private beside exact."""

from dpbayes.ui.pages.explore.page import explore_page
from dpbayes.ui.widgets.page import live

live(explore_page)
