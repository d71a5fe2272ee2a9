"""The address at which others can open what a person sees, or why they cannot."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit, urlunsplit

import streamlit as st

from dpbayes.ui.server.program import start_command

ONLY_HERE = (
    f"This address works on this computer only; `{start_command(for_class=True)}` opens it to the local network."
)


@dataclass(frozen=True)
class Served:
    """What the server listens on, and the address by which other computers find it, empty where none is known."""

    listens: str
    public_name: str

    @classmethod
    def now(cls) -> "Served":
        """Return how this server was started."""
        address = str(st.get_option("browser.serverAddress") or "")
        return cls(str(st.get_option("server.address") or ""), "" if is_own(address) else address)


def is_own(host: str) -> bool:
    """Return whether a host is the computer that asks, so that another computer would find itself there."""
    if host.rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def shareable(opened: str, served: Served) -> tuple[str, str]:
    """Return the address for others of a page that was opened at `opened`, and why it is not for them, else ""."""
    parts = urlsplit(opened)
    if not is_own(parts.hostname or "localhost"):  # who opened it came from elsewhere, or by a name that others know
        return opened, ""
    if is_own(served.listens) or not served.public_name:
        return opened, ONLY_HERE
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{served.public_name}{port}")), ""
