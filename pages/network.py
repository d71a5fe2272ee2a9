"""Network: draw the DAG; see what the structure costs."""

from dpbayes.ui.pages.network.page import network_page
from dpbayes.ui.widgets.page import live

live(network_page)
