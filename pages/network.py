"""Network: draw the DAG, and see what each of its arrows is worth."""

from dpbayes.ui.pages.network import network_page
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import within_app

within_app()
network_page(Chosen.now())
