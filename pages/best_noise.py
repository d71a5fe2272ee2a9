"""Best noise: which mechanism adds the least noise at one promise."""

from dpbayes.ui.pages.best_noise.page import best_noise_page
from dpbayes.ui.widgets.page import live

live(best_noise_page)
