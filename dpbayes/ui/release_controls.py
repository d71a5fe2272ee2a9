"""The controls of the Release page: mechanism and parameters, the picked cell, prior and seed."""

import streamlit as st

from dpbayes.mechanisms import MECHANISMS, LaplaceFourier
from dpbayes.network import Network
from dpbayes.ui import controls
from dpbayes.ui.settings import MECHANISM_NAMES, current, set_parameter
from dpbayes.ui.show import is_curator, sentence_instead
from dpbayes.ui.work import STEALTH, defaults_for, is_simulated, kept_share, stealth_increment

ARROW = ":material/arrow_forward:"

EXAMPLE = "dysp | bronc=yes, either=no"
"""The row in the picture of the table that comes first, while the person has picked none."""


def picked(net: Network) -> tuple[int, int]:
    """Return the row and the cell in the picture: what the settings name, else an example and its telling state."""
    labels = net.row_labels()
    row = next((labels.index(name) for name in (current().row, EXAMPLE) if name in labels), 0)
    states = net.states[net.node_of_row[row]]
    telling = net.telling_state(int(net.node_of_row[row]))
    state = states.index(current().state) if current().state in states else telling
    return row, int(net.row_starts[row]) + state


def has_picked(net: Network) -> bool:
    """Whether the row in the picture is the person's choice."""
    return current().row in net.row_labels()


def question(net: Network) -> tuple[str, dict[str, str]]:
    """Return the target, the first node where none is chosen, and what is given: states by node."""
    target = current().target if current().target in net.names else net.names[0]
    states = dict(zip(net.names, net.states, strict=True))
    given = {name: state for name, state in current().evidence if name != target and state in states.get(name, ())}
    return target, given


def has_asked(net: Network) -> bool:
    """Whether the question is the person's: she chose a target or what is given."""
    return current().target in net.names or bool(question(net)[1])


def release_controls(net: Network) -> None:
    """Offer everything that a release depends on."""
    names = {kind.__name__: kind for kind in MECHANISMS}
    controls.segments("Mechanism", "mechanism", MECHANISM_NAMES, format_func=lambda name: names[name].label)
    _elsewhere(net)
    chosen = names[current().mechanism]
    controls.parameter_controls(chosen, defaults_for(chosen, current(), net))
    if chosen is LaplaceFourier:
        with sentence_instead():
            _stealth(net)
    row, _ = picked(net)
    labels = net.row_labels()
    controls.choice("CPT row", "row", labels, default=labels[row], help="A node, and the states of its parents.")
    node = int(net.node_of_row[row])
    controls.choice("State", "state", net.states[node], default=net.states[node][net.telling_state(node)])
    with st.expander("Prior and seed" if is_curator() else "Prior"):
        controls.text_field("Prior: pseudo-count of every cell", "prior", help="1 is uniform.")
        if is_curator():
            controls.text_field("Seed of the simulated noise", "seed", help="A real release has no seed.")


def _elsewhere(net: Network) -> None:
    """Lead to the mechanisms that do not release a network's CPTs."""
    compared = is_curator() and len(net.names) == 1
    die = " This network is a single die: the comparison below has the former." if compared else ""
    st.caption(
        "Two more release something else, on pages of their own: one of the finitely many posteriors of a single die, "
        f"and the weights of a regression.{die}"
    )
    with st.container(horizontal=True, gap="small"):
        st.page_link("pages/hellinger.py", label="Hellinger mechanism", icon=ARROW)
        st.page_link("pages/regression.py", label="Regression", icon=ARROW)


def _stealth(net: Network) -> None:
    """Say how often the chosen t keeps every table non-negative, and find a t for a target."""
    if not net.is_binary:
        return
    calibration = current().parameter("calibration")
    t = current().parameter("t", stealth_increment(net, calibration, STEALTH))
    kept = f"{kept_share(net, calibration, t):.1%} of releases"
    said = f"{kept} would be" if is_simulated(net) else f"at least {kept} are proved to be"
    st.caption(f"With no data at all, {said} non-negative; real counts only help.")
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    target = left.selectbox("Target probability", (0.5, 0.9, 0.99, 0.999), index=1, format_func=lambda p: f"{p:.1%}")
    right.button("Find t", on_click=lambda: set_parameter("t", stealth_increment(net, calibration, target)))
