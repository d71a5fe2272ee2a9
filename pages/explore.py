"""Explore: one question, private beside exact, at every epsilon."""

from dpbayes.ui.pages.explore import explore_page
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import within_app

within_app()
explore_page(Chosen.now())
