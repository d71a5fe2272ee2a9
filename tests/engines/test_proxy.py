"""The dashboard behind an nginx that authenticates, by the command and the configuration of docs/serving.md.

Only the interpreter, the ports and the places of files are replaced.
"""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from dpbayes.ui.session.roles import TOKEN, cookie_name
from tests.browser.serving import CURATORS, ROOT, free_port, wait_for
from tests.test_docs import TEXTS, blocks
from tests.wire import cookies, received, texts

pytestmark = pytest.mark.engines

NGINX = shutil.which("nginx", path=os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin")))
SECTION = TEXTS["docs/serving.md"].partition("## Behind a proxy that authenticates")[2].partition("\n## ")[0]
USER = {"Authorization": f"Basic {base64.b64encode(b'ann:secret').decode()}"}


def begin(stack: ExitStack, command: list[str], url: str) -> None:
    """Run a command until the block ends, and wait for its server."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), TOKEN: CURATORS}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)

    def end() -> None:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)

    stack.callback(end)
    assert wait_for(process, url)


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The address of the proxy."""
    if NGINX is None:
        pytest.skip("nginx is not installed: run `make engines` as root, or install the package nginx")
    behind, front = free_port(), free_port()
    (command,), (site,) = blocks(SECTION, "sh"), blocks(SECTION, "nginx")
    (tmp_path / "users").write_text("ann:{PLAIN}secret\n")
    # The health of the server is open, so that the start can be waited for.
    site = site.replace("8701", str(behind)).replace("listen 8600", f"listen 127.0.0.1:{front}")
    site = re.sub(r"/etc/nginx/\S+;", f"{tmp_path}/users;", site)
    health = f"location /_stcore/health {{ auth_basic off; proxy_pass http://127.0.0.1:{behind}; }}\n    location / {{"
    (tmp_path / "dashboard.conf").write_text(site.replace("location / {", health))
    temporary = "".join(
        f"{kind}_temp_path {tmp_path}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    owner = "user root; " if os.getuid() == 0 else ""
    (tmp_path / "nginx.conf").write_text(
        f"{owner}daemon off; pid {tmp_path}/pid; events {{}} http {{ access_log off; {temporary} include "
        f"{tmp_path}/dashboard.conf; }}"
    )
    start = command.splitlines()[-1].replace(".venv/bin/python", sys.executable).replace("8701", str(behind))
    with ExitStack() as stack:
        begin(stack, start.split(), f"http://127.0.0.1:{behind}")
        begin(stack, [NGINX, "-c", f"{tmp_path}/nginx.conf", "-e", f"{tmp_path}/log"], f"http://127.0.0.1:{front}")
        yield f"http://127.0.0.1:{front}"


def test_only_users_of_the_proxy_are_visitors_and_the_token_makes_the_curator(url: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{url}/explore")
    with pytest.raises(InvalidStatus, match="401"):
        received(url, "release")
    own = cookies(url)
    assert "Release and spend" not in texts(received(url, "release", headers={**USER, **own}))
    curator = {"Cookie": f"{own['Cookie']}; {cookie_name(url)}={CURATORS}"}
    assert "Release and spend" in texts(received(url, "release", headers={**USER, **curator}))
