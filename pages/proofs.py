"""Proofs: one mechanism as stated, proved and measured, and the papers' claims with their verdicts."""

from dpbayes.ui.pages.proofs.claims import claims_part
from dpbayes.ui.pages.proofs.mechanism import mechanism_part
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.research import ProofsView
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.page import within_app

within_app()
chosen = Chosen.now()
parameter_control("proofs.view", label="collapsed")
if chosen.options("proofs").view is ProofsView.CLAIMS:
    claims_part(chosen)
else:
    mechanism_part(chosen)
