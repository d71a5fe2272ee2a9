"""Release: choose a mechanism and epsilon; see private beside exact."""

from dpbayes.ui.pages.release.page import release_page
from dpbayes.ui.widgets.page import live

live(release_page)
