"""Compare mechanisms: which mechanism wins when, at one promise, on which graphs, and at what cost in added counts."""

from dpbayes.ui.pages.compare.page import compare_page
from dpbayes.ui.widgets.page import live

live(compare_page)
