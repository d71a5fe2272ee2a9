"""Structure: what privacy costs graphs of growing density."""

from dpbayes.ui.pages.structure.page import structure_page
from dpbayes.ui.widgets.page import live

live(structure_page)
