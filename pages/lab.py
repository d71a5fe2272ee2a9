"""Lab: accuracy, regression, posterior sampling, a die, and all mechanisms compared."""

from dpbayes.ui.pages.lab import lab_page
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import within_app

within_app()
lab_page(Chosen.now())
