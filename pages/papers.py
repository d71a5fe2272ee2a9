"""Papers: every claim, what became of it, and where it is checked."""

from dpbayes.ui.pages.papers.page import papers_page
from dpbayes.ui.widgets.page import live

live(papers_page)
