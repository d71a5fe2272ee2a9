"""Posterior sampling: trim a prior, release samples, and count what an adversary learns from them."""

from dpbayes.ui.pages.sampling.game import game_section
from dpbayes.ui.pages.sampling.page import sampling_page
from dpbayes.ui.widgets.page import live

live(sampling_page)
live(game_section, key="game")
