"""Claims: each claim of the papers with its statement, its verdict and its picture."""

from dpbayes.ui.pages.claims.page import claims_page
from dpbayes.ui.widgets.page import live

live(claims_page)
