"""Ledger: budgets, what was spent of them, every release as it was made, and the check of a release file."""

from dpbayes.ui.pages.ledger import ledger_page
from dpbayes.ui.widgets.page import live

live(ledger_page)
