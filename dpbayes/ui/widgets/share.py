"""The address at which other persons can open the present view, or the reason why they cannot."""

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
