"""The file of roles: who has which role by the claims of a token, and every fault of the file as a sentence."""

import os
from pathlib import Path
from typing import Any

import pytest

from dpbayes.__main__ import main
from dpbayes.base.validation import InputError
from dpbayes.ui.session.grants import ROLES, Role, granted, has_expired, read_rules, rules
from dpbayes.ui.session.roles import VISITOR, Act, signed_in
from tests.browser.serving import free_port

FILE = """
[[grant]]
role = "curator"
values = ["Ada@example.org"]
datasets = ["clinic"]

[[grant]]
role = "auditor"
claim = "groups"
values = ["audit", "board"]
"""
ADA = {"email": "ada@Example.org", "email_verified": True, "exp": 100, "sub": "1", "is_logged_in": True}


def roles_of(**claims: Any) -> list[Role]:
    return [grant.role for grant in granted({**ADA, **claims}, read_rules(FILE), now=50)]


def test_an_address_in_another_alphabet_is_another_address() -> None:
    rules = read_rules('[[grant]]\nrole = "curator"\nvalues = ["Sam@example.org"]\n')
    for email, number in (("sam@example.org", 1), ("SAM@EXAMPLE.ORG", 1), ("\u017fam@example.org", 0)):
        claims = {"email": email, "email_verified": True, "exp": 100, "is_logged_in": True}
        assert len(granted(claims, rules, now=50)) == number


def test_a_person_is_named_by_a_verified_address_or_by_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROLES, "")
    assert signed_in(ADA, now=50).name == ADA["email"]
    assert signed_in({**ADA, "email_verified": False}, now=50).name == ADA["sub"]


def test_an_address_counts_once_the_provider_has_verified_it() -> None:
    assert roles_of() == [Role.CURATOR]
    for verified in (False, None, "true", 1):
        assert roles_of(email_verified=verified) == []
    assert roles_of(email="ada@example.org.evil.example") == []
    assert roles_of(email=None) == roles_of(email=7) == []


def test_any_value_of_a_claim_counts() -> None:
    assert roles_of(groups=["staff", "board"]) == [Role.CURATOR, Role.AUDITOR]
    assert roles_of(email="", groups="audit") == [Role.AUDITOR]
    for groups in ("Audit", "audit,board", {"audit": True}, None, [["audit"]], 1):
        assert roles_of(email="", groups=groups) == []


@pytest.mark.parametrize("expires", [50, 49.9, 0, -1, None, "100", True, float("nan"), [100]])
def test_a_token_that_has_expired_or_does_not_say_when_grants_nothing(expires: Any) -> None:
    assert has_expired({**ADA, "exp": expires}, now=50)
    assert roles_of(exp=expires) == []


def test_a_person_is_named_by_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(FILE, encoding="utf-8")
    monkeypatch.setenv(ROLES, str(file))
    ada = signed_in(ADA, now=50)
    assert (ada.name, ada.role, ada.may(Act.RELEASE, "clinic"), ada.may(Act.RELEASE, "votes")) == (
        ADA["email"],
        Role.CURATOR,
        True,
        False,
    )
    assert signed_in({**ADA, "email": "eve@example.org"}, now=50).grants == VISITOR.grants
    assert signed_in({}, now=50) is signed_in(ADA, now=100) is VISITOR
    file.write_text("role = 1", encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert signed_in(ADA, now=50) is VISITOR, "a file that was spoilt gives nobody a role"
    file.unlink()
    assert signed_in(ADA, now=50) is VISITOR
    monkeypatch.setenv(ROLES, "")
    assert rules() == ()
    assert signed_in(ADA, now=50).grants == VISITOR.grants


WRONG = {
    "not toml [": "not valid TOML",
    "role = 'curator'": "[[grant]] tables only",
    "grant = 1": "[[grant]] tables only",
    "grant = [1]": "[[grant]] tables only",
    "[[grant]]\nrole = 'owner'\nvalues = ['a']": "Grant 1 of the file of roles needs a role: curator, auditor",
    "[[grant]]\nvalues = ['a']": "needs a role",
    "[[grant]]\nrole = ['curator']\nvalues = ['a']": "needs a role",
    "[[grant]]\nrole = 'curator'": "needs values",
    "[[grant]]\nrole = 'curator'\nvalues = []": "needs values",
    "[[grant]]\nrole = 'curator'\nvalues = 'a@b.org'": "needs values",
    "[[grant]]\nrole = 'curator'\nvalues = ['']": "needs values",
    "[[grant]]\nrole = 'curator'\nvalues = ['a']\ndatasets = []": "needs datasets",
    "[[grant]]\nrole = 'curator'\nvalues = ['a']\nclaim = 1": "must name its claim as text",
    "[[grant]]\nrole = 'curator'\nvalues = ['a']\ndataset = ['x']": 'unknown key "dataset"',
    "a = " + "[" * 5_000: "not valid TOML",
}


@pytest.mark.parametrize("text", list(WRONG), ids=range(len(WRONG)))
def test_a_file_that_is_wrong_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_rules(text)
    assert WRONG[text] in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_server_with_a_wrong_file_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content in (("gone", None), ("wrong", b"role = 1"), ("latin", b"\xff"), ("large", b"#" * 100_001)):
        file = tmp_path / name
        if content is not None:
            file.write_bytes(content)
        monkeypatch.setenv(ROLES, str(file))
        assert main(["--port", str(free_port())]) == 2
        refusal = capsys.readouterr().err
        assert "file of roles" in refusal.lower()
        assert refusal.count("\n") == 1
    monkeypatch.setenv(ROLES, str(tmp_path))
    assert main(["--port", str(free_port())]) == 2
