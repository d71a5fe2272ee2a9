"""Network: draw the DAG; see what the structure costs."""

from dpbayes.ui.pages.network.page import arrows, costs, editor, exchange, headline_of, start_from
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.page import places
from dpbayes.ui.widgets.show import headline, sentence_instead

chosen = Chosen.now()
place = places()
with place.main:
    parameter_control("epsilon")
with place.controls:
    start_from()
with place.picture:
    editor(chosen)
net = None
with place.top, sentence_instead():  # above the drawing that it is about
    net = chosen.network
    headline(headline_of(net, epsilon=chosen.epsilon))
if net is not None:
    with place.controls, sentence_instead():
        costs(net, epsilon=chosen.epsilon)
    with place.picture:
        arrows(net, epsilon=chosen.epsilon)
exchange(chosen)
