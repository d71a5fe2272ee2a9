"""A page as the server sends it: a client without a browser, and every text and number of what it receives."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from google.protobuf.message import Message
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

SILENCE_S = 120
"""A server that says nothing for so long has failed."""

MARKS = {ord("\\"): None, 0x2060: None}
"""What keeps a name from being read as Markdown or as a link."""

NO_FILES: Mapping[str, UploadedFileInfo] = {}

EARLY = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN


@contextmanager
def connected(url: str, headers: Mapping[str, str] | None = None) -> Iterator[ClientConnection]:
    """Connect to a server as one of its own pages does, which repeats a cookie of its own as a protocol."""
    cookies = SimpleCookie((headers or {}).get("Cookie", ""))
    own = [cookies["_streamlit_xsrf"].value] if "_streamlit_xsrf" in cookies else []
    with connect(
        f"ws{url.removeprefix('http')}/_stcore/stream",
        origin=Origin(url),
        subprotocols=[Subprotocol(word) for word in ("streamlit", *own)],
        additional_headers=dict(headers or {}),
        max_size=None,
    ) as wire:
        yield wire


def run(
    wire: ClientConnection,
    page: str,
    query: Mapping[str, str] | None = None,
    *,
    checked: Sequence[str] = (),
    pressed: str = "",
    files: Mapping[str, UploadedFileInfo] = NO_FILES,
) -> list[ForwardMsg]:
    """Run a page with a link's query; return all messages until it is drawn.

    Args:
        wire: The connection.
        page: The path of the page.
        query: The settings in the link.
        checked: The ids of checked boxes and of open expanders.
        pressed: The id of a button that was pressed.
        files: The uploaded file of each place for files, by its id.

    Returns:
        The messages, the last of which says that the page is drawn.
    """
    message = BackMsg()
    message.rerun_script.page_name = page
    message.rerun_script.query_string = urlencode(query or {})
    for name in checked:
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.bool_value = name, True
    if pressed:
        state = message.rerun_script.widget_states.widgets.add()
        state.id, state.trigger_value = pressed, True
    for name, file in files.items():
        state = message.rerun_script.widget_states.widgets.add()
        state.id = name
        state.file_uploader_state_value.uploaded_file_info.append(file)
    wire.send(message.SerializeToString())
    sent: list[ForwardMsg] = []
    while not sent or sent[-1].WhichOneof("type") != "script_finished" or sent[-1].script_finished == EARLY:
        content = wire.recv(timeout=SILENCE_S)
        assert isinstance(content, bytes)
        sent.append(ForwardMsg.FromString(content))
    return sent


def received(
    url: str, page: str, query: Mapping[str, str] | None = None, *, headers: Mapping[str, str] | None = None
) -> list[ForwardMsg]:
    """Open a page of a server with a link's query, and return all messages until the page has been drawn."""
    with connected(url, headers) as wire:
        return run(wire, page, query)


def cookies(url: str) -> dict[str, str]:
    """Return the cookies of a new browser that has opened the page."""
    with closing(HTTPConnection(url.partition("//")[2], timeout=SILENCE_S)) as connection:
        connection.request("GET", "/_stcore/health")
        answer = connection.getresponse()
        answer.read()
    return {"Cookie": "; ".join(line.partition(";")[0] for line in answer.headers.get_all("Set-Cookie") or ())}


def made_file(wire: ClientConnection, sent: list[ForwardMsg], file_id: str) -> str:
    """Ask for the file of a download button that makes it when it is pressed; return its address, "" if refused.

    Args:
        wire: The connection.
        sent: What the page of this connection has sent.
        file_id: The id of the file.

    Returns:
        The address below that of the server.
    """
    message = BackMsg()
    message.backend_operation_request.request_id = file_id
    message.backend_operation_request.session_id = next(
        id_ for part in sent if (id_ := part.new_session.initialize.session_id)
    )
    message.backend_operation_request.deferred_file.file_id = file_id
    wire.send(message.SerializeToString())
    while True:
        content = wire.recv(timeout=SILENCE_S)
        assert isinstance(content, bytes)
        answer = ForwardMsg.FromString(content)
        if answer.WhichOneof("type") == "backend_operation_response":
            return answer.backend_operation_response.deferred_file.url


def button(messages: list[ForwardMsg], label: str) -> str:
    """Return what Streamlit calls the button with this label."""
    buttons = [message.delta.new_element.button for message in messages]
    return next(element.id for element in buttons if element.label == label)


def widget(messages: list[ForwardMsg], label: str) -> str:
    """Return the id of the box, of the place for files or of the expander whose label begins so."""
    parts: list[Message] = [message.delta.new_element.checkbox for message in messages]
    parts += [message.delta.new_element.file_uploader for message in messages]
    parts += [message.delta.add_block.expandable for message in messages]
    return next(str(part.id) for part in parts if part.label.startswith(label))  # type: ignore[attr-defined]


def sent_file(
    url: str, wire: ClientConnection, data: bytes, headers: Mapping[str, str]
) -> tuple[int, UploadedFileInfo]:
    """Upload a file as the browser of an open page does, by a request of its own with the page's cookies.

    Returns:
        The status of the answer, and what the browser then tells the page of the file.
    """
    message = BackMsg()
    message.file_urls_request.request_id = "upload"
    message.file_urls_request.file_names.append("a.csv")
    wire.send(message.SerializeToString())
    while True:
        content = wire.recv(timeout=SILENCE_S)
        assert isinstance(content, bytes)
        answer = ForwardMsg.FromString(content)
        if answer.WhichOneof("type") == "file_urls_response":
            (place,) = answer.file_urls_response.file_urls
            break
    body = b'--b\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n' + data + b"\r\n--b--\r\n"
    own = {"Content-Type": "multipart/form-data; boundary=b"}
    cookies = SimpleCookie(headers.get("Cookie", ""))
    if "_streamlit_xsrf" in cookies:
        own["X-Xsrftoken"] = cookies["_streamlit_xsrf"].value
    with closing(HTTPConnection(url.partition("//")[2], timeout=SILENCE_S)) as connection:
        connection.request("PUT", place.upload_url, body, {**own, **headers})
        status = connection.getresponse().status
    return status, UploadedFileInfo(file_id=place.file_id, name="a.csv", size=len(data), file_urls=place)


def scalars(message: Message) -> Iterator[str]:
    """Every text, number and run of bytes of a message, however deep."""
    for field, value in message.ListFields():
        several = value if field.is_repeated else [value]
        if field.message_type and field.message_type.GetOptions().map_entry:
            several = [*value.keys(), *value.values()]
        for element in several:
            if isinstance(element, Message):
                yield from scalars(element)
            else:
                yield element.decode(errors="replace") if isinstance(element, bytes) else str(element)


def texts(messages: list[ForwardMsg]) -> str:
    """Return all that messages hold, a line for each text or number, without the marks that keep names text."""
    return "\n".join(text.translate(MARKS) for message in messages for text in scalars(message))
