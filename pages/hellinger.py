"""Hellinger: the exponential mechanism over a die's posteriors, beside Laplace noise."""

from dpbayes.ui.pages.hellinger.page import hellinger_page
from dpbayes.ui.widgets.page import live

live(hellinger_page)
