"""Checks all values from the browser. Values that no control can have sent are dropped with a message.

Streamlit returns values that are not among the options of a control, and fails on values of other types.
"""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from types import MethodType
from typing import Any

import streamlit as st
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime_util import WidgetStateSizeError
from streamlit.runtime.scriptrunner import RerunData, RerunException, get_script_run_ctx
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequest, ScriptRequests, ScriptRequestType
from streamlit.runtime.state.common import RegisterWidgetResult, WidgetMetadata, unpack_widget_state_value
from streamlit.runtime.state.safe_session_state import SafeSessionState
from streamlit.runtime.state.session_state import SessionState, Value, WStates

from dpbayes.base.validation import InputError

LEFT_OUT = "The browser sent a value that is not offered here. Nothing was changed."

WENT_WRONG = (
    "Something went wrong here. Your settings are kept: go to another page, open a story, or reload this page. The "
    "server's log describes the error."
)

MOST_BYTES = 10_000_000
"""The largest value of a control; a drawing of 1,000 nodes with 19 parents each is smaller."""

MOST_EVENTS = 20
"""The largest number of events of a component in one message; each event calls a callback."""

_PRESSES = frozenset({"trigger_value", "string_trigger_value", "json_trigger_value"})
"""The kinds of values that a browser sends once, when a control is pressed."""

_NOTES, _WAITING, _UNSHOWN = "guard.notes", "guard.waiting", "guard.unshown"
_LOG = logging.getLogger(__name__)


def watch() -> None:
    """Let Streamlit check the values from a browser before a control's deserializer or callback receives them."""
    take, register = inspect.unwrap(SessionState.set_widgets_from_proto), inspect.unwrap(SessionState.register_widget)
    AppSession.request_rerun = _whole_page_if_needed(inspect.unwrap(AppSession.request_rerun))  # type: ignore[method-assign]
    request, ready = inspect.unwrap(ScriptRequests.request_rerun), inspect.unwrap(ScriptRequests.on_scriptrunner_ready)
    ScriptRequests.request_rerun = _unless_page_is_left(request)  # type: ignore[method-assign]
    ScriptRequests.on_scriptrunner_ready = _on_page_shown(ready)  # type: ignore[method-assign, assignment]
    SessionState.set_widgets_from_proto = _checked(take)  # type: ignore[method-assign, assignment]
    SessionState.register_widget = _guarding(register)  # type: ignore[method-assign, assignment]
    begin = inspect.unwrap(SafeSessionState.on_script_will_rerun)
    SafeSessionState.on_script_will_rerun = _unbroken(begin)  # type: ignore[method-assign]


def notes() -> list[str]:
    """Return the messages about the values that the browser has sent last."""
    sentences: list[str] = st.session_state.get(_NOTES, [])
    return sentences


def log_failure(error: Exception) -> None:
    """Write an unexpected error to the server's log, with its traceback."""
    _LOG.error("A part of the page failed.", exc_info=error)


@contextmanager
def delivering() -> Iterator[None]:
    """After the page was drawn, apply the values that the browser sent before this session had the page's controls."""
    try:
        yield
    finally:
        _deliver()


def _deliver() -> None:
    waiting, run = st.session_state.get(_WAITING), get_script_run_ctx()
    if waiting is None or run is None:
        return
    metadata = run.session_state._state._new_widget_state.widget_metadata
    later = [state for state in waiting.widgets if state.id not in metadata]
    st.session_state[_WAITING] = None
    if len(later) == len(waiting.widgets):
        return
    # Values of controls in a folded part are applied after that part was opened here, too.
    st.session_state[_WAITING] = WidgetStates(widgets=later) if later else None
    # The page was drawn from the link, so the browser shows the former values of the moved controls.
    st.session_state[_UNSHOWN] = {state.id for state in waiting.widgets}
    raise RerunException(
        RerunData(
            query_string=run.query_string,
            page_script_hash=run.page_script_hash,
            cached_message_hashes=run.cached_message_hashes,
            context_info=run.context_info,
            widget_states=waiting,
        )
    )


def _unbroken(begin: Callable[..., None]) -> Callable[..., None]:
    """Return the beginning of a run, which reads a message and calls its callbacks, such that no message breaks it off.

    Streamlit breaks a run off at any access to the session, for a message that came meanwhile. Here that would lose the
    move or the press that this run is for, or leave its callback half done. The message is read right afterwards.
    """

    @functools.wraps(begin)
    def unbroken(session: SafeSessionState, *args: Any, **more: Any) -> None:
        look = session._yield_callback
        if not isinstance(look, MethodType) or not isinstance(look.__self__, ScriptRunner):
            return begin(session, *args, **more)
        look.__self__._execing = False  # by this a runner knows whether it may be broken off
        try:
            begin(session, *args, **more)
        finally:
            look.__self__._execing = True

    return unbroken


def _unless_page_is_left(request: Callable[[ScriptRequests, RerunData], bool]) -> Callable[..., bool]:
    """Return the request of a run, such that a fragment's does not replace the waiting request for another page.

    Until the browser has received the next page, its messages name the former one: a timer of its chart, say.
    """

    @functools.wraps(request)
    def requested(requests: ScriptRequests, new: RerunData) -> bool:
        waiting = requests._rerun_data if requests._state == ScriptRequestType.RERUN else new
        is_late = bool(new.fragment_id) and waiting.page_script_hash != new.page_script_hash
        return is_late or request(requests, new)

    return requested


def _on_page_shown(take: Callable[[ScriptRequests], ScriptRequest]) -> Callable[[ScriptRequests], ScriptRequest]:
    """Return the next request of a session, such that a fragment's does not return to a page that was left.

    Streamlit would show that page without its content, because its fragments are gone.
    """

    @functools.wraps(take)
    def taken(requests: ScriptRequests) -> ScriptRequest:
        request, run = take(requests), get_script_run_ctx(suppress_warning=True)
        if run is None or request.type != ScriptRequestType.RERUN or not request.rerun_data.fragment_id_queue:
            return request
        page = run.page_script_hash or request.rerun_data.page_script_hash  # in a session that begins, none is shown
        return replace(request, _rerun_data=replace(request.rerun_data, page_script_hash=page))

    return taken


def _whole_page_if_needed(request: Callable[[AppSession, ClientState | None], None]) -> Callable[..., None]:
    @functools.wraps(request)
    def requested(session: AppSession, client: ClientState | None) -> None:
        if client is not None and client.fragment_id:
            metadata = session.session_state._new_widget_state.widget_metadata
            # The server has restarted under an open page: this session has no fragment that could rerun alone.
            if not metadata or _presses_elsewhere(client, metadata):
                client.fragment_id = ""
        request(session, client)

    return requested


def _presses_elsewhere(client: ClientState, metadata: Mapping[str, WidgetMetadata[Any]]) -> bool:
    """Whether the message presses a control outside the fragment that it reruns.

    The browser sends simultaneous events in one message, which reruns only the fragment of the first one. If a person
    releases a slider and presses a key for the next step of a story, the step would be received but not shown.
    """
    pressed = [state.id for state in client.widget_states.widgets if state.WhichOneof("value") in _PRESSES]
    return any(metadata[widget].fragment_id != client.fragment_id for widget in pressed if widget in metadata)


def _checked(take: Callable[[SessionState, WidgetStates], None]) -> Callable[[SessionState, WidgetStates], None]:
    @functools.wraps(take)
    def checked(session: SessionState, sent: WidgetStates) -> None:
        metadata = session._new_widget_state.widget_metadata
        if sent.widgets and not metadata and _WAITING not in session:
            # The server has restarted under an open page. Which controls have moved is known only after the page was
            # drawn from its link.
            session[_WAITING] = sent
            st.rerun()
        on_page = [state for state in sent.widgets if state.id in metadata]
        fit = [state for state in on_page if _fits(state, metadata[state.id])]
        session[_NOTES] = [LEFT_OUT] if len(fit) < len(on_page) else []
        try:
            take(session, WidgetStates(widgets=fit))
        except WidgetStateSizeError:
            session[_NOTES] = [LEFT_OUT]

    return checked


def _guarding(
    register: Callable[[SessionState, WidgetMetadata[Any], str | None], RegisterWidgetResult[Any]],
) -> Callable[[SessionState, WidgetMetadata[Any], str | None], RegisterWidgetResult[Any]]:
    @functools.wraps(register)
    def guarding(session: SessionState, metadata: WidgetMetadata[Any], key: str | None) -> RegisterWidgetResult[Any]:
        _forget_unfit(session, metadata, key)
        _leave_what_is_shown(session, metadata.id, key)
        if metadata.callback is not None:
            metadata = replace(metadata, callback=_all_or_nothing(metadata.callback))
        if metadata.callbacks is not None:  # the graph editor has one for each event
            guarded = {event: _all_or_nothing(callback) for event, callback in metadata.callbacks.items()}
            metadata = replace(metadata, callbacks=guarded)
        result = register(session, metadata, key)
        return replace(result, value_changed=True) if _is_unshown(session, metadata.id) else result

    return guarding


def _is_unshown(session: SessionState, control: str) -> bool:
    """Whether the browser must receive the value of a control, once."""
    if _UNSHOWN not in session or control not in session[_UNSHOWN]:
        return False
    session[_UNSHOWN].discard(control)
    return True


def _leave_what_is_shown(session: SessionState, control: str, key: str | None) -> None:
    """Do not set a control to the value that the browser shows, because this would move a slider under the hand.

    A value that the browser has not confirmed is set again. The elements of a run may never be sent if the next run
    begins at once; the control in the browser would then have its old value, or none if it is new.
    """
    values, confirmed = session._new_session_state, session._new_widget_state
    if key is None or key not in values:
        return
    if control in confirmed and _same(confirmed[control], values[key]):
        del values[key]
    else:
        confirmed.pop(control, None)


def _same(shown: object, value: object) -> bool:
    try:
        return bool(shown == value)
    except Exception:  # values that cannot be compared differ
        return False


def _fits(state: WidgetState, metadata: WidgetMetadata[Any]) -> bool:
    """Whether a control can have sent this value: it deserializes the value, and serializes it to the same."""
    field = state.WhichOneof("value")
    value_type: str | None = metadata.value_type
    expected = value_type or "string_value"  # Streamlit drops the type of an empty list
    if field not in (expected, None) or state.ByteSize() > MOST_BYTES:
        return False
    chosen = list(state.string_array_value.data) if expected == "string_array_value" else [state.string_value]
    try:
        sent = unpack_widget_state_value(state)
        if field == "json_value" and not isinstance(sent, dict):  # Streamlit would read it as an empty state
            return False
        value = deepcopy(metadata.deserializer(sent))
        if expected == "json_trigger_value" and value is not None and len(value) > MOST_EVENTS:
            return False
        # A slider or a row of buttons maps an unknown option to another one; and one button is always selected.
        if expected == "string_array_value" and (value is None or metadata.serializer(value) != chosen):
            return False
    except Exception:
        return False
    if field is None:  # an empty value, if the control may be empty
        return value is None
    options = metadata.formatted_options
    return options is None or (set(chosen) <= set(options) and len(set(chosen)) == len(chosen))


def _forget_unfit(session: SessionState, metadata: WidgetMetadata[Any], key: str | None) -> None:
    """Drop values in the session that a control cannot show. They come from this program, not from a browser."""
    kept, start = session._old_state, metadata.deserializer(None)
    for values, name in ((session._new_session_state, key), (kept, key), (kept, metadata.id)):
        if name is None or name not in values:
            continue
        kind = next((kind for kind in (bool, str, list, dict) if isinstance(start, kind)), object)
        fits = isinstance(values[name], kind)
        if not fits or (name == key and not _shows(values[name], metadata)):
            _LOG.error("The control %s cannot show %.200r; it keeps its former value.", key, values.pop(name))


def _shows(value: object, metadata: WidgetMetadata[Any]) -> bool:
    written = WStates({metadata.id: Value(value)}, {metadata.id: metadata})
    try:
        state = written.get_serialized(metadata.id)
    except Exception:
        return False
    return state is not None and _fits(state, metadata)


def _all_or_nothing(callback: Callable[..., None]) -> Callable[..., None]:
    """Return a callback that on failure restores the settings and shows a message."""

    @functools.wraps(callback)
    def call(*args: Any, **more: Any) -> None:
        before = st.session_state.get("settings")
        try:
            callback(*args, **more)
        except Exception as error:
            if before is not None:
                st.session_state["settings"] = before
            if not isinstance(error, InputError):
                log_failure(error)
            st.session_state[_NOTES] = [*notes(), str(error) if isinstance(error, InputError) else WENT_WRONG]

    return call
