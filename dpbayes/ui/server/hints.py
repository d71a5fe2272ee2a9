"""The script that the browser loads together with the page: that of all charts, which is the largest."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import get_option

PLOTLY = "app/static/plotly-cartesian.min.js"
"""Plotly's script, with the kinds of traces that the figures use, below the server's own address."""


def plotly_address() -> str:
    """Return the address of Plotly's script on this server."""
    base = str(get_option("server.baseUrlPath")).strip("/")
    return f"/{base}/{PLOTLY}" if base else f"/{PLOTLY}"


def hinted(app: ASGIApp) -> ASGIApp:
    """Return the ASGI application whose page names Plotly's script in a header.

    The browser then loads the script while it starts Streamlit's own, and not when the first chart arrives.

    Args:
        app: The application to wrap.

    Returns:
        An application for the same server.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_hint(message: Message) -> None:
            if message["type"] == "http.response.start" and _is_page(message):
                link = f"<{plotly_address()}>; rel=preload; as=script"
                message["headers"] = [*message["headers"], (b"link", link.encode("latin-1"))]
            await send(message)

        await app(scope, receive, send_with_hint)

    return answer


def _is_page(message: Message) -> bool:
    types = [value for name, value in message.get("headers", ()) if name.lower() == b"content-type"]
    return any(value.startswith(b"text/html") for value in types)
