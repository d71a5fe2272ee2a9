"""Home: what this is, one answer as the public sees it, and the guided stories."""

from dpbayes.ui.pages.home import home_page
from dpbayes.ui.widgets.show import within_app

within_app()
home_page()
