"""Which epsilon: the least one at which an answer is near enough, often enough."""

from dpbayes.ui.pages.which_epsilon.page import which_epsilon_page
from dpbayes.ui.widgets.page import live

live(which_epsilon_page)
