"""The bar of all pages: title, seat where a page offers it, and the link to share."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from dpbayes.ui.server.program import start_command
from dpbayes.ui.session.current import current
from dpbayes.ui.session.link import left_out, query_of
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.widgets.board import begin_share_menu
from dpbayes.ui.widgets.controls import segments


def top_bar(title: str, *, has_seat: bool) -> None:
    """Title, seat and link, in one line where the screen is wide."""
    missing = _missing_from_link()
    with st.container(horizontal=True, vertical_alignment="center", key="bar"):
        st.title(title, width="content")
        if has_seat:
            segments(
                "View as",
                "seat",
                list(Seat),
                format_func=lambda seat: seat.value.capitalize(),
                label_visibility="collapsed",
            )
        # Opening it reruns all: a page's fragment moves on without the bar, and the link must not be yesterday's.
        menu = st.popover("Share", key="share", on_change="rerun")
        begin_share_menu(menu if menu.open else None)
        with menu:
            st.markdown("**Link**")
            if missing:
                st.warning(missing)
            st.caption(
                f"This link reopens {'the rest of the' if missing else 'the same'} view. Uploaded tables are not part "
                "of the link."
            )
            address, why = shareable((st.context.url or "").partition("?")[0], Served.now())
            st.code(f"{address}?{urlencode(query_of(current()))}", language=None, wrap_lines=True)
            if why:
                st.caption(why)
    if current().seat is Seat.RECIPIENT:
        st.caption(
            "Recipient view: only what a release contains. This choice changes what is shown; it does not restrict "
            "access." + ("" if has_seat else " Explore changes it.")
        )
    if missing:
        st.caption(missing)


def _missing_from_link() -> str:
    """Return the sentence about what the link cannot carry, empty if it carries everything."""
    names = left_out(current())
    if not names:
        return ""
    return (
        f"The link leaves out {' and '.join(names)}: {'it is' if len(names) == 1 else 'they are'} too long for an "
        "address. *Import or export* on the Network page saves a network as a file."
    )


# The address that others can open, or the reason why they cannot

ONLY_HERE = (
    f"This address works on this computer only; `{start_command(for_class=True)}` opens it to the local network."
)


@dataclass(frozen=True)
class Served:
    """The address that the server listens on, and its name for other computers, "" if unknown."""

    listens: str
    public_name: str

    @classmethod
    def now(cls) -> "Served":
        """Return the configuration of this server."""
        address = str(st.get_option("browser.serverAddress") or "")
        return cls(str(st.get_option("server.address") or ""), "" if is_own(address) else address)


def is_own(host: str) -> bool:
    """Return whether a host name means the computer that uses it, such as localhost."""
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def shareable(opened: str, served: Served) -> tuple[str, str]:
    """Return the address for other persons of a page opened at `opened`, and why they cannot use it, else ""."""
    parts = urlsplit(opened)
    if not is_own(parts.hostname or "localhost"):  # opened from another computer, or by a name that others can use
        return opened, ""
    if is_own(served.listens) or not served.public_name:
        return opened, ONLY_HERE
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{served.public_name}{port}")), ""
