"""Accuracy: how well does what is released predict, as epsilon grows?"""

from dpbayes.ui.pages.accuracy.page import accuracy_page
from dpbayes.ui.widgets.page import live

live(accuracy_page)
