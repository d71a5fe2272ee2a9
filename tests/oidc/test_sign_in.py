"""A sign-in by OpenID Connect, with a provider that the tests start: real tokens, good ones, expired and foreign ones.

`make oidc` installs what this needs.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from dpbayes.ui.bar import EXPIRED
from dpbayes.ui.server.security import FAILED, UNREACHABLE
from dpbayes.ui.session.grants import ROLES
from dpbayes.ui.session.roles import cookie_name
from tests.browser.serving import CURATORS, ROOT, free_port, server_process
from tests.releases.made import opened
from tests.wire import button, connected, received, run, texts

provider_mock = pytest.importorskip("oidc_provider_mock", reason="`make oidc` installs it")
httpx = pytest.importorskip("httpx", reason="`make oidc` installs it")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the provider and of Authlib

NO_LEDGER = "Only the curator and the auditor can read the ledger."
NO_CHANGES = "Only the curator can create datasets, raise budgets and make real releases."

PERSONS = {
    "ada": {"email": "ada@example.org", "email_verified": True},
    "eva": {"email": "Eva@Example.org", "email_verified": True},
    "mallory": {"email": "ada@example.org", "email_verified": False},
    "rob": {"email": "rob@example.org", "groups": ["readers", "staff"]},
    "nobody": {"email": "nobody@example.org", "email_verified": True},
}
FILE = """
[[grant]]
role = "curator"
values = ["ada@example.org"]
datasets = ["garden"]

[[grant]]
role = "auditor"
values = ["eva@example.org"]

[[grant]]
role = "recipient"
claim = "groups"
values = ["readers"]
"""


@contextmanager
def provider(**options: Any) -> Iterator[str]:
    """Start a provider of OpenID Connect that knows the persons."""
    users = [provider_mock.User(sub=sub, claims=claims) for sub, claims in PERSONS.items()]
    with provider_mock.run_server_in_thread(user_claims=users, **options) as server:
        yield f"http://localhost:{server.server_port}"


@contextmanager
def dashboard(folder: Path, issuer: str) -> Iterator[str]:
    """Serve the dashboard with this provider, a ledger and a file of roles."""
    url = f"http://127.0.0.1:{free_port()}"
    secrets, roles = folder / "secrets.toml", folder / "roles.toml"
    secrets.write_text(
        f'[auth]\nredirect_uri = "{url}/oauth2callback"\ncookie_secret = "a secret of this test alone"\n'
        f'client_id = "dashboard"\nclient_secret = "s"\n'
        f'server_metadata_url = "{issuer}/.well-known/openid-configuration"\n',
        encoding="utf-8",
    )
    roles.write_text(FILE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ROLES, str(roles))
        patch.setenv("DPBAYES_LEDGER", str(opened(folder)))
        command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless", "true"]
        command += ["--server.port", url.rpartition(":")[2], "--server.address", "127.0.0.1"]
        command += ["--secrets.files", str(secrets)]
        with server_process(command, url, cwd=ROOT, path=ROOT):
            yield url


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with provider() as address:
        yield address


@pytest.fixture(scope="module")
def url(issuer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with dashboard(tmp_path_factory.mktemp("dashboard"), issuer) as address:
        yield address


def called_back(url: str, sub: str, browser: Any) -> str:
    """Press *Sign in*, be this person at the provider, and return the address to which it sends the browser back."""
    with connected(url) as wire:
        sent = run(wire, "ledger", pressed=button(run(wire, "ledger"), "Sign in"))
    (place,) = [message.auth_redirect.url for message in sent if message.WhichOneof("type") == "auth_redirect"]
    form = browser.get(f"{url}{place}").headers["location"]
    request = parse_qs(urlsplit(form).query)
    assert request["nonce"], "a token is for one sign-in"
    assert request["state"]
    return str(browser.post(form, data={"sub": sub}).headers["location"])


def cookies(browser: Any, url: str) -> dict[str, str]:
    """Return the cookies of a browser that has the page of the server."""
    browser.get(f"{url}/_stcore/health")
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}


def signed_in(url: str, sub: str) -> dict[str, str]:
    """Return the cookies of a browser whose person has signed in."""
    with httpx.Client() as browser:
        answer = browser.get(called_back(url, sub, browser))
        assert answer.status_code == 302
        return cookies(browser, url)


def ledger_of(url: str, headers: dict[str, str]) -> str:
    return texts(received(url, "ledger", headers=headers))


def test_whoever_has_not_signed_in_is_a_visitor(url: str) -> None:
    sent = ledger_of(url, {})
    assert NO_LEDGER in sent
    assert "Sign in" in sent
    assert "garden" not in sent


def test_a_curator_has_her_datasets(url: str) -> None:
    sent = ledger_of(url, signed_in(url, "ada"))
    assert "Signed in: ada@example.org, curator." in sent
    assert "garden has" in sent
    assert "Create dataset" in sent
    assert "Integrity of the ledger" not in sent, "which is about all datasets"


def test_an_auditor_reads_alone(url: str) -> None:
    sent = ledger_of(url, signed_in(url, "eva"))
    assert "garden has" in sent
    assert "Integrity of the ledger" in sent
    assert NO_CHANGES in sent
    assert "Create dataset" not in sent


def test_a_recipient_by_a_group_opens_files_alone(url: str) -> None:
    headers = signed_in(url, "rob")
    sent = ledger_of(url, headers)
    assert "Your role on this server is recipient" in sent
    assert "garden" not in sent
    assert "(curator view)" not in texts(received(url, "data", {"seat": "curator"}, headers=headers))


@pytest.mark.parametrize("sub", ["mallory", "nobody"])
def test_an_address_that_is_not_verified_or_not_named_gives_no_role(url: str, sub: str) -> None:
    sent = ledger_of(url, signed_in(url, sub))
    assert NO_LEDGER in sent
    assert "visitor" in sent
    assert "garden" not in sent


def test_signing_out_ends_it(url: str) -> None:
    with httpx.Client() as browser:
        browser.get(called_back(url, "ada", browser))
        assert "garden has" in ledger_of(url, cookies(browser, url))
        browser.get(f"{url}/auth/logout")
        assert NO_LEDGER in ledger_of(url, cookies(browser, url))


# What is not taken


def test_a_code_is_good_once(url: str) -> None:
    """By the browser that has used it, and by another one that has seen the address."""
    with httpx.Client() as browser, httpx.Client() as thief:
        address = called_back(url, "ada", browser)
        assert thief.get(address).text == FAILED
        assert NO_LEDGER in ledger_of(url, cookies(thief, url)), "the state is the first browser's"
        assert browser.get(address).status_code == 302
        assert browser.get(address).status_code == 302, "who goes back in the browser stays signed in"
        assert "garden has" in ledger_of(url, cookies(browser, url))
        browser.cookies.delete("_streamlit_user")
        assert browser.get(address).text == FAILED
        assert NO_LEDGER in ledger_of(url, cookies(browser, url))


def test_a_cookie_that_was_changed_or_is_of_another_server_is_not_taken(url: str, issuer: str, tmp_path: Path) -> None:
    headers = signed_in(url, "ada")
    name = "_streamlit_user="
    start = headers["Cookie"].index(name) + len(name) + 8
    for place in (start, start + 40, len(headers["Cookie"]) - 3):
        sign = "A" if headers["Cookie"][place] != "A" else "B"
        changed = headers["Cookie"][:place] + sign + headers["Cookie"][place + 1 :]
        assert changed != headers["Cookie"]
        sent = ledger_of(url, {"Cookie": changed})
        assert NO_LEDGER in sent or "_streamlit_user_tokens" in headers["Cookie"][:place]
    with dashboard(tmp_path, issuer) as other:
        assert NO_LEDGER in ledger_of(other, headers)


def foreign(url: str, sub: str = "ada") -> str:
    """Return what the ledger's page says after a sign-in whose token the dashboard must refuse."""
    with httpx.Client() as browser:
        answer = browser.get(called_back(url, sub, browser))
        assert (answer.status_code, answer.text) == (403, FAILED)
        assert "_streamlit_user" not in browser.cookies
        return ledger_of(url, cookies(browser, url))


def test_a_token_for_another_audience_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provider_mock._app.OpenIDCode, "get_audiences", lambda *_: ["other"], raising=False)
    assert NO_LEDGER in foreign(url)


@pytest.mark.parametrize("claim", ["iss", "exp", "nonce"])
def test_a_token_with_a_claim_that_is_wrong_is_refused(url: str, claim: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = provider_mock._app.OpenIDCode.get_jwt_config

    def config(self: Any, *args: Any, **more: Any) -> dict[str, Any]:
        return {
            **usual(self, *args, **more),
            **{"iss": {"iss": "http://evil.example"}, "exp": {"exp": -3600}}.get(claim, {}),
        }

    monkeypatch.setattr(provider_mock._app.OpenIDCode, "get_jwt_config", config)
    if claim == "nonce":
        monkeypatch.setattr(provider_mock._storage.AuthorizationCode, "get_nonce", lambda _: "of-another-sign-in")
    assert NO_LEDGER in foreign(url)


def test_a_token_that_somebody_else_has_signed_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from authlib.jose import JsonWebKey

    usual = provider_mock._app.OpenIDCode.get_jwt_config
    key = JsonWebKey.generate_key("RSA", 2048, is_private=True).as_dict(is_private=True)
    monkeypatch.setattr(
        provider_mock._app.OpenIDCode, "get_jwt_config", lambda *args, **more: {**usual(*args, **more), "key": key}
    )
    assert NO_LEDGER in foreign(url)


ADDRESSES = [
    "",
    "?state=of-nobody&code=of-nobody",
    "?state=&code=",
    "?error=access_denied&error_description=%3Cb%3Eno%3C/b%3E",
    "?error=%0d%0aset-cookie:%20a=b",
    "?state=%00%ff&code=%00",
    f"?state={'s' * 5000}",
]


@pytest.mark.parametrize("query", ADDRESSES, ids=range(len(ADDRESSES)))
def test_an_address_that_no_provider_has_sent_is_refused_with_a_sentence(url: str, query: str) -> None:
    with httpx.Client() as browser:
        answer = browser.get(f"{url}/oauth2callback{query}")
        assert (answer.status_code, answer.text) == (403, FAILED)
        assert "location" not in answer.headers
        assert NO_LEDGER in ledger_of(url, cookies(browser, url))
    with httpx.Client() as browser:  # of somebody who has signed in, it ends nothing
        browser.get(called_back(url, "ada", browser))
        assert browser.get(f"{url}/oauth2callback{query}").status_code == 302
        assert "garden has" in ledger_of(url, cookies(browser, url))


@pytest.mark.parametrize("name", ["code", "state"])
def test_a_code_or_a_state_that_was_changed_is_refused_with_a_sentence(url: str, name: str) -> None:
    with httpx.Client() as browser:
        place = urlsplit(called_back(url, "ada", browser))
        query = {key: value + "x" * (key == name) for key, (value,) in parse_qs(place.query).items()}
        answer = browser.get(place._replace(query=urlencode(query)).geturl())
        assert (answer.status_code, answer.text) == (403, FAILED)
        assert NO_LEDGER in ledger_of(url, cookies(browser, url))


def test_a_provider_that_is_gone_is_a_sentence_and_the_token_still_works(tmp_path: Path) -> None:
    with provider() as issuer:
        pass
    with dashboard(tmp_path, issuer) as url, httpx.Client() as browser:
        with connected(url) as wire:
            sent = run(wire, "ledger", pressed=button(run(wire, "ledger"), "Sign in"))
        (place,) = [message.auth_redirect.url for message in sent if message.WhichOneof("type") == "auth_redirect"]
        answer = browser.get(f"{url}{place}")
        assert (answer.status_code, answer.text) == (400, UNREACHABLE)
        assert "garden has" in ledger_of(url, {"Cookie": f"{cookie_name(url)}={CURATORS}"})


def test_a_role_ends_when_its_token_expires(tmp_path: Path) -> None:
    with provider(access_token_max_age=timedelta(seconds=15)) as issuer, dashboard(tmp_path, issuer) as url:
        headers = signed_in(url, "ada")
        begun = time.monotonic()
        with connected(url, headers) as wire:
            assert "garden has" in texts(run(wire, "ledger"))
            assert time.monotonic() - begun < 15, "a machine this busy cannot tell"
            time.sleep(16)
            sent = texts(run(wire, "ledger"))
        assert NO_LEDGER in sent, "also on a page that was open before"
        assert EXPIRED in sent
        assert "garden" not in sent
        assert NO_LEDGER in ledger_of(url, headers)
