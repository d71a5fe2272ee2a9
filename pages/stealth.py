"""Stealth: how much must be added so that a Fourier release does not look like one."""

from dpbayes.ui.pages.stealth.page import stealth_page
from dpbayes.ui.widgets.page import live

live(stealth_page)
