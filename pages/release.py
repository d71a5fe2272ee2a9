"""Release: what a release costs, the release itself, the ledger, and the check of a release file."""

from dpbayes.ui.pages.release import release_page
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import within_app

within_app()
release_page(Chosen.now())
