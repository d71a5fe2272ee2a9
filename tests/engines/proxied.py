"""Two processes of the dashboard behind nginx, by the commands and the configuration of docs/serving.md.

Only the interpreter, the ports and the place of the ledger are replaced.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser.serving import ROOT, free_port, wait_for
from tests.test_docs import TEXTS, blocks

NGINX = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
SECTION = TEXTS["docs/serving.md"].partition("## More than one process")[2].partition("\n## ")[0]
PORTS = {"one": "8701", "two": "8702", "proxy": "8600"}
"""The ports in the document."""

PATIENCE_S = 60


@dataclass(frozen=True)
class Site:
    """The proxy, the processes behind it, and the command and the environment that start each process again."""

    url: str
    token: str
    ledger: Path
    commands: dict[str, str]
    environment: dict[str, str]
    urls: dict[str, str]
    pids: dict[str, int]


def as_in_the_document(text: str, ports: dict[str, str], address: str) -> str:
    """Return a text of the document with other ports, another ledger and this interpreter."""
    text = text.replace(f"listen {PORTS['proxy']}", f"listen 127.0.0.1:{ports['proxy']}")
    for name in ("one", "two"):
        assert PORTS[name] in text
        text = text.replace(PORTS[name], ports[name])
    text = text.replace("/srv/dpbayes/ledger.sqlite", address)
    return text.replace(".venv/bin/python", sys.executable)


@contextmanager
def proxied(folder: Path, path: Path) -> Iterator[Site]:
    """Run the site with a ledger at this place, and keep its files in a folder."""
    ports = {name: str(free_port()) for name in PORTS}
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    (commands,) = (as_in_the_document(text, ports, str(path)) for text in blocks(SECTION, "sh"))
    (configuration,) = (as_in_the_document(text, ports, "") for text in blocks(SECTION, "nginx"))
    with ExitStack() as stack:
        token, pids = _started(folder, commands, stack)
        _start_nginx(folder, configuration, urls["proxy"], stack)
        lines = {name: line for name in pids for line in commands.splitlines() if ports[name] in line}
        exported = {"DPBAYES_TOKEN": token, "DPBAYES_LEDGER": str(path)}
        yield Site(urls.pop("proxy"), token, path, lines, exported, urls, pids)


def _started(folder: Path, commands: str, stack: ExitStack) -> tuple[str, dict[str, int]]:
    """Run the commands of the document in a shell; return the token and the ids of the processes."""
    say = f"jobs -p > {folder}/pids.part; printenv DPBAYES_TOKEN > {folder}/token; mv {folder}/pids.part {folder}/pids"
    log = stack.enter_context((folder / "log").open("w"))
    command = ["bash", "-c", f"{commands}\n{say}\nwait"]
    shell = subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=log, stderr=log, start_new_session=True)
    stack.callback(end, shell)
    deadline = time.monotonic() + PATIENCE_S
    while not (folder / "pids").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    pids = dict(zip(("one", "two"), map(int, (folder / "pids").read_text().split()), strict=True))
    ports = dict(zip(pids, re.findall(r"--port (\d+)", commands), strict=True))
    for name in pids:
        assert wait_for(shell, f"http://127.0.0.1:{ports[name]}"), (folder / "log").read_text()
    return (folder / "token").read_text().strip(), pids


def environment() -> dict[str, str]:
    """Return the environment with the modules of the checkout, and those of this interpreter."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that began a session of its own, and what it has started."""
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(PATIENCE_S)


def _start_nginx(folder: Path, configuration: str, url: str, stack: ExitStack) -> None:
    """Start nginx with the document's configuration, where Debian's main file includes it."""
    (folder / "dashboard.conf").write_text(configuration, encoding="utf-8")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"  {kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    owner = "user root;\n" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{owner}daemon off;\npid {folder}/nginx.pid;\nevents {{ worker_connections 4096; }}\n"
        f"http {{\n  access_log off;\n{paths}  include {folder}/dashboard.conf;\n}}\n",
        encoding="utf-8",
    )
    assert NGINX is not None
    command = [NGINX, "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    nginx = subprocess.Popen(command, start_new_session=True)
    stack.callback(end, nginx)
    assert wait_for(nginx, url), (folder / "error.log").read_text()
