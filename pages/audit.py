"""Audit: what a mechanism claims, what is proved of it, and what the worst neighbours really lose."""

from dpbayes.ui.pages.audit.page import audit_page
from dpbayes.ui.widgets.page import live

live(audit_page)
