"""Signed releases: what a changed byte, a wrong key, a stripped signature and a lost key are called."""

import copy
import json
import re
import stat
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.__main__ import main
from dpbayes.base.validation import InputError
from dpbayes.releases import ledger, signing
from dpbayes.releases.document import read_document
from dpbayes.releases.document.canonical import canonical, hash_of, read_canonical
from dpbayes.releases.publishing import publish
from dpbayes.releases.report import html_report
from dpbayes.releases.signing import (
    NOT_SIGNED,
    PublicKey,
    key_file,
    make_key,
    named_keys,
    read_public_key,
    signature_line,
    signed,
    signed_bytes,
    signing_key,
)
from dpbayes.releases.verify import verify
from tests.releases.asking import hashed
from tests.releases.made import counts, opened, released, request_with
from tests.releases.made_adaptive import DATA as ADAPTIVE_DATA
from tests.releases.made_adaptive import REQUEST as ADAPTIVE

cryptography = pytest.importorskip("cryptography", reason='run pip install "dpbayes[sign]"')

FOREIGN = PublicKey("11" * 32)


def with_key(folder: Path) -> Path:
    path = opened(folder)
    make_key(path, "The statistics office", reason="The first key.")
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return with_key(tmp_path)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A signed release."""
    return publish(with_key(tmp_path_factory.mktemp("signed")), request_with(), counts()).document


def pem_of(key: PublicKey) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.digits))
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def key_of(document: bytes) -> PublicKey:
    return signing.signer_from(json.loads(document)["signer"]).key


def failures(data: bytes, key: PublicKey | None = None) -> list[str]:
    return [check.sentence for check in verify(data, key).checks if not check.holds]


def said(data: bytes, key: PublicKey | None = None) -> str:
    """Return what the check of the signature says."""
    (check,) = (check for check in verify(data, key).checks if check.name == "signature")
    return check.sentence


# What holds


def test_a_release_of_a_ledger_with_a_key_is_signed_and_says_who_signed(document: bytes) -> None:
    key = key_of(document)
    assert not failures(document)
    assert not failures(document, key)
    who = f'"The statistics office" (key {key.fingerprint})'
    assert said(document, key) == f"{who} signed this file, with the given key."
    assert said(document).startswith(f"{who} signed this file, by the key in the file. Only verify --key confirms")
    assert signature_line(read_document(document).content).startswith(f"Signed by {who}.")
    assert NOT_SIGNED not in verify(document).left_out
    assert key.fingerprint in html_report(read_document(document))


def test_every_kind_of_release_is_signed(tmp_path: Path) -> None:
    release = publish(with_key(tmp_path), request_with(), counts()).document
    in_rho = tmp_path / "rho"
    in_rho.mkdir()
    other = in_rho / "ledger.sqlite"
    ledger.open_dataset(other, ADAPTIVE.dataset, ADAPTIVE.cost, reason="For an adaptive release.")
    make_key(other, "Ann", reason="The first key.")
    adaptive = publish(other, ADAPTIVE, ADAPTIVE_DATA).document
    for data in (release, adaptive):
        assert not failures(data, key_of(data))
        content = dict(read_canonical(data))
        assert failures(canonical(content | {"signature": "0" * 128}), key_of(data))


def test_what_is_signed_is_the_canonical_form_without_the_signature(document: bytes) -> None:
    """As anybody can check with OpenSSL or another library, from the file alone."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = json.loads(document)
    message = json.dumps(
        {name: value for name, value in content.items() if name != "signature"},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    ).encode()
    assert message == signed_bytes(content)
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(content["signer"]["public_key"]))
    key.verify(bytes.fromhex(content["signature"]), message)


def rfc_8785(value: object) -> str:
    """JSON by the rules of RFC 8785 for objects, lists, text, whole numbers and the three words, written anew."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{rfc_8785(name)}:{rfc_8785(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(rfc_8785, value)) + "]"
    if isinstance(value, str):
        short = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
        return '"' + "".join(short.get(c, f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'
    return {True: "true", False: "false", None: "null"}[value] if value in (True, False, None) else str(value)  # type: ignore[index]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | texts | st.integers(2, 2**53) | st.integers(-(2**53), -1),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abcz_", max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_the_canonical_form_is_that_of_rfc_8785(value: object) -> None:
    """The fields of a document have names of ASCII letters; other names RFC 8785 sorts in another order."""
    assert canonical(value).decode() == rfc_8785(value)


# Old documents


def test_a_release_without_a_key_is_as_it_was_and_said_to_be_not_signed(tmp_path: Path) -> None:
    data = released(tmp_path).document
    assert not {"signer", "signature"} & set(json.loads(data))
    assert verify(data).holds
    assert verify(data).left_out == (NOT_SIGNED,)
    assert len(failures(data, FOREIGN)) == 1


# What fails


def test_a_wrong_key_is_named(document: bytes) -> None:
    named = key_of(document).fingerprint
    assert failures(document, FOREIGN) == [f"The file names the key {named}, not the given key {FOREIGN.fingerprint}."]


def changed(document: bytes, **fields: object) -> bytes:
    """Return a document with other fields and hashes that agree."""
    content = {**json.loads(document), **fields}
    content = {name: value for name, value in content.items() if value is not None}
    return hashed(content)


def test_a_stripped_signature_is_noticed(document: bytes) -> None:
    for stripped in ({"signature": None}, {"signer": None}):
        assert said(changed(document, **stripped)).endswith("its signature or its signer was removed.")
    never = changed(document, signer=None, signature=None)
    assert verify(never).holds, "a file that never was signed looks the same"
    assert len(failures(never, key_of(document))) == 1


@pytest.mark.parametrize(
    ("signer", "why"),
    [
        ({"algorithm": "RSA"}, "this program reads Ed25519"),
        ({"public_key": "00"}, "64 hexadecimal digits"),
        ({"public_key": "ff" * 32}, "does not match"),
        ({"name": "Another office"}, "does not match"),
        ({"name": " "}, "one line"),
        ({"name": "a\u202eb"}, "one line"),
    ],
)
def test_another_signer_is_noticed(document: bytes, signer: dict[str, str], why: str) -> None:
    old = json.loads(document)["signer"]
    sentences = failures(changed(document, signer=old | signer))
    assert any(re.search(why, sentence) for sentence in sentences), sentences


@given(st.data())
def test_a_changed_byte_anywhere_is_a_sentence(document: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(document) - 1))
    spoiled = bytearray(document)
    spoiled[place] = data.draw(st.integers(0, 255).filter(lambda byte: byte != document[place]))
    for key in (None, key_of(document)):
        sentences = failures(bytes(spoiled), key)
        assert sentences
        assert all(sentence.endswith(".") and "\n" not in sentence for sentence in sentences)


def _leaves(content: object, path: tuple = ()) -> list[tuple]:
    if isinstance(content, dict):
        return [leaf for name, inner in content.items() for leaf in _leaves(inner, (*path, name))]
    if isinstance(content, list):
        return [leaf for k, inner in enumerate(content) for leaf in _leaves(inner, (*path, k))]
    return [path]


@given(st.data())
def test_whatever_is_changed_with_hashes_that_agree_is_not_signed(document: bytes, data: st.DataObject) -> None:
    content = json.loads(document)
    place = data.draw(st.sampled_from([leaf for leaf in _leaves(content) if leaf[0] not in ("hash", "signature")]))
    forged = copy.deepcopy(content)
    at = forged
    for step in place[:-1]:
        at = at[step]
    value = at[place[-1]]
    at[place[-1]] = value + data.draw(st.integers(1, 9)) if isinstance(value, int) else f"{value or ''}0"
    forged["hash"] = hash_of(forged)
    assert failures(canonical(forged), key_of(document))


def test_without_the_package_a_check_says_so_and_a_key_is_not_confirmed(document: bytes, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    verification = verify(document)
    assert verification.holds
    assert any("was not checked. A signature needs cryptography" in sentence for sentence in verification.left_out)
    assert any("was not checked" in sentence for sentence in failures(document, key_of(document)))


# Keys


def test_a_key_is_for_its_owner_and_never_overwritten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (key,) = named_keys(path)
    file = key_file(path, key.signer.key)
    assert file.parent == path.parent
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (key.row, key.reason) == (3, "The first key.")
    before = file.read_bytes()
    monkeypatch.setattr(signing, "key_file", lambda *_: file)
    with pytest.raises(InputError, match=r"^The key file .* cannot be written: File exists\.$"):
        make_key(path, "Ann", reason="A second key.")
    assert file.read_bytes() == before
    assert len(named_keys(path)) == 1


def test_the_private_key_is_in_no_row_and_in_no_release(path: Path) -> None:
    data = publish(path, request_with(), counts()).document
    (key,) = named_keys(path)
    text = key_file(path, key.signer.key).read_text().splitlines()[1]
    seed = __import__("base64").b64decode(text)[-32:]
    for content in (data, path.read_bytes(), Path(f"{path}-wal").read_bytes() if Path(f"{path}-wal").exists() else b""):
        assert text.encode() not in content
        assert seed not in content
        assert seed.hex().encode() not in content


def test_a_key_that_the_ledger_refuses_leaves_no_file(path: Path) -> None:
    before = sorted(path.parent.glob("*.pem"))
    for name, reason in (("", "A key."), ("Ann", "")):
        with pytest.raises(InputError):
            make_key(path, name, reason=reason)
    assert sorted(path.parent.glob("*.pem")) == before


def test_a_rotated_key_confirms_what_it_signed_and_signs_nothing_new(path: Path) -> None:
    old = publish(path, request_with(), counts()).document
    (first,) = named_keys(path)
    second, _ = make_key(path, "The statistics office", reason="A new year.")
    new = publish(path, request_with(prior=("2",)), counts()).document
    assert named_keys(path) == (first, second)
    assert key_of(old) == first.signer.key != key_of(new)
    assert not failures(old, first.signer.key)
    assert not failures(new, second.signer.key)
    assert failures(new, first.signer.key)
    key_file(path, second.signer.key).unlink()
    with pytest.raises(InputError, match="is missing"):  # the file of the former key is there
        signing_key(path)


def test_a_lost_key_stops_a_release_before_anything_is_charged_and_can_be_replaced(path: Path) -> None:
    (first,) = named_keys(path)
    file = key_file(path, first.signer.key)
    before = file.read_bytes()
    file.unlink()
    with pytest.raises(InputError, match=r"the private key of .* is missing\. Restore .* ledger new-key"):
        publish(path, request_with(), counts())
    assert not ledger.read_books(path).of("garden")
    second, _ = make_key(path, "The statistics office", reason="The first was lost.")
    data = publish(path, request_with(), counts()).document
    assert not failures(data, second.signer.key)
    file.write_bytes(before)
    assert signing_key(path).signer == second.signer


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "does not contain a private key"),
        (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "does not contain a private key"),
        ("another", "does not contain the key that the ledger names"),
        (None, "cannot be read|is missing"),
    ],
)
def test_a_damaged_key_stops_a_release_before_anything_is_charged(path: Path, tmp_path: Path, content, why) -> None:
    (key,) = named_keys(path)
    file = key_file(path, key.signer.key)
    if content is None:
        file.unlink()
        file.mkdir()
    elif content == "another":
        (tmp_path / "other").mkdir()
        other = with_key(tmp_path / "other")
        file.write_bytes(key_file(other, named_keys(other)[0].signer.key).read_bytes())
    else:
        file.write_bytes(content)
    with pytest.raises(InputError, match=why):
        publish(path, request_with(), counts())
    assert not ledger.read_books(path).of("garden")


def test_without_the_package_nothing_is_charged_where_releases_are_signed(path: Path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(InputError, match=r'^A signed release needs cryptography, .* pip install "dpbayes\[sign\]"'):
        publish(path, request_with(), counts())
    assert not ledger.read_books(path).of("garden")


def test_the_folder_of_the_keys_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPBAYES_KEYS", str(tmp_path / "keys"))
    path = with_key(tmp_path)
    assert [file.name for file in (tmp_path / "keys").iterdir()] == [
        f"signing-key-{named_keys(path)[0].signer.key.fingerprint}.pem"
    ]


@pytest.mark.parametrize(
    "data", [b"", b"\xff" * 100, b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", b"x" * 100_000]
)
def test_another_file_is_no_public_key(data: bytes) -> None:
    with pytest.raises(InputError, match=r"^The file wrong\.pem is not an Ed25519 public key in PEM form"):
        read_public_key(data, "The file wrong.pem")


def test_a_private_key_is_not_taken_for_a_public_one(path: Path) -> None:
    file = key_file(path, named_keys(path)[0].signer.key)
    with pytest.raises(InputError, match=r"contains a private key\. Do not share it"):
        read_public_key(file.read_bytes())


# By command


def test_keys_by_command(tmp_path: Path, capsys) -> None:
    path, public = str(opened(tmp_path)), tmp_path / "key.pem"
    own = ["ledger", "--ledger", path]
    words = [*own, "new-key", "--name", "Ann", "--reason", "The first key.", "--out"]
    assert main([*words, str(public)]) == 0
    assert "(row 3)" in capsys.readouterr().out
    (key,) = named_keys(Path(path))
    assert read_public_key(public.read_bytes()) == key.signer.key
    private = next(Path(path).parent.glob("signing-key-*.pem"))
    before = private.read_bytes()
    for out, more in ((private, []), (private, ["--force"]), (public, [])):
        assert main([*words, str(out), *more]) == 2
    assert private.read_bytes() == before
    assert named_keys(Path(path)) == (key,), "a file that cannot be written makes no key"
    assert main([*own, "list"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(r'signing key in row 3, \S+: "Ann" \(key \w{16}\)\. The first key\.', line)


def test_verify_by_command_says_who_signed(path: Path, tmp_path: Path, capsys) -> None:
    file, public, other = tmp_path / "release.json", tmp_path / "key.pem", tmp_path / "other.pem"
    data = publish(path, request_with(), counts()).document
    file.write_bytes(data)
    public.write_bytes(pem_of(key_of(data)))
    other.write_bytes(pem_of(FOREIGN))
    assert main(["verify", str(file), "--key", str(public), "--ledger", str(path)]) == 0
    out = capsys.readouterr().out
    assert "signed this file, with the given key." in out
    assert 'holds  The ledger names the key of "The statistics office"' in out
    assert main(["verify", str(file), "--key", str(other)]) == 1
    assert f"FAILS  The file names the key {key_of(data).fingerprint}, not the given key" in capsys.readouterr().out
    assert main(["verify", str(file), "--key", str(file)]) == 2
    assert "not an Ed25519 public key" in capsys.readouterr().err


def test_a_key_that_the_ledger_does_not_name_is_noticed(path: Path, tmp_path: Path, capsys) -> None:
    """Somebody writes a release of their own into a ledger that they can write to."""
    for folder in ("other", "third"):
        (tmp_path / folder).mkdir()
    foreign = signing_key(with_key(tmp_path / "other"))
    assert foreign is not None
    data = signed(released(tmp_path / "third").document, foreign)
    ledger.spend(path, "garden", 1, b"a question", lambda: data)
    file = tmp_path / "release.json"
    file.write_bytes(data)
    assert main(["verify", str(file), "--ledger", str(path)]) == 1
    assert "FAILS  The ledger does not name the key that signed this release." in capsys.readouterr().out
