"""What the dashboard needs of Streamlit's inner modules: the run of a page, and the sessions of the server."""

from typing import Any

from streamlit import runtime
from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx


def this_run() -> Any | None:
    """Return the context of the run of this thread, with its session and page; None outside of a run."""
    return get_script_run_ctx(suppress_warning=True)


def forget_fragments() -> None:
    """Forget the fragments of the former page, and what the browser has sent or will send to them.

    Streamlit would answer such a message after the new page by a run of the former page, and the browser would then
    remove the new page. A waiting run of the whole app, such as after another click, stays.
    """
    if (run := this_run()) is None:
        return
    run.fragment_storage.clear()
    waiting = run.script_requests.on_scriptrunner_yield()
    if waiting is None:  # nothing, or messages to fragments: they become a run of all, which is taken and not made
        run.script_requests.request_rerun(RerunData())
        run.script_requests.on_scriptrunner_yield()
    else:
        run.script_requests.request_rerun(waiting.rerun_data)


def has_browser(session: str) -> bool:
    """Return whether a browser is connected to a session."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def uploaded_files() -> Any:
    """Return Streamlit's store of the files of all sessions."""
    return runtime.get_instance().uploaded_file_mgr
