"""Signatures: the signer of a document, its Ed25519 signature, and the keys of a ledger, which sign every release.

The signed bytes are the canonical form (RFC 8785) of the whole document without the field `signature`. The signer is
part of them, and of the hash of the content. The private key never leaves its file, next to the ledger. The ledger
contains the public key, so that it can be published, and so that releases can be compared with it after the key was
replaced.
"""

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpbayes.base.libraries import extra
from dpbayes.base.validation import InputError, brief
from dpbayes.releases.document.canonical import canonical, hash_of, one_line, read_canonical, require_shape
from dpbayes.releases.ledger.books import Event, EventKind, checked_reason
from dpbayes.releases.ledger.store import reading, writing

ALGORITHM = "Ed25519"

SIGNER = {"algorithm": str, "name": str, "public_key": str}
"""The types of the fields of a signer in JSON."""

NOT_SIGNED = (
    "The release is not signed: anyone could have written this file, and the checks only confirm that its numbers, its "
    "noise and its statements agree. Use it only if you trust its source."
)

FOLDER = "DPBAYES_KEYS"
"""The environment variable for the folder of the private keys."""

MOST_LETTERS = 200
"""Letters of a signer's name."""

MOST_BYTES = 10_000
"""Most bytes of a file with a key."""

_KEY, _SIGNATURE = re.compile("[0-9a-f]{64}", re.ASCII), re.compile("[0-9a-f]{128}", re.ASCII)


@dataclass(frozen=True)
class PublicKey:
    """An Ed25519 public key, its 32 bytes as hexadecimal digits."""

    digits: str

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.digits):
            raise InputError(f"An Ed25519 public key has 64 hexadecimal digits; {brief(self.digits)} does not.")

    @property
    def fingerprint(self) -> str:
        """The first 16 hexadecimal digits of the key's SHA-256, which name the key in sentences and file names."""
        return hashlib.sha256(bytes.fromhex(self.digits)).hexdigest()[:16]

    def confirms(self, signature: bytes, message: bytes) -> bool:
        """Whether this key signed a message. Errors: InputError where the package cryptography is missing."""
        with extra("sign", "A signature"):
            from cryptography.exceptions import InvalidSignature  # late: most documents are not signed
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        try:
            Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.digits)).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class Signer:
    """A signer: a name that the signer chose, and the public key."""

    name: str
    key: PublicKey

    def __post_init__(self) -> None:
        one_line("The signer's name", self.name, MOST_LETTERS)

    @property
    def content(self) -> dict[str, str]:
        """The signer as JSON has it."""
        return {"algorithm": ALGORITHM, "name": self.name, "public_key": self.key.digits}

    def __str__(self) -> str:
        return f"{brief(self.name, MOST_LETTERS + 2)} (key {self.key.fingerprint})"


def signer_from(content: object) -> Signer:
    """Return the signer of JSON. Errors: InputError for other fields, and for an algorithm other than Ed25519."""
    require_shape("A signer", content, SIGNER)
    signer: dict[str, str] = content  # type: ignore[assignment]  # by its shape
    if signer["algorithm"] != ALGORITHM:
        raise InputError(f"The signature has the algorithm {brief(signer['algorithm'])}; this program reads Ed25519.")
    return Signer(signer["name"], PublicKey(signer["public_key"]))


def read_public_key(data: bytes, file: str = "This file") -> PublicKey:
    """Return the key of a PEM `file`. Errors: InputError for another file, also for one with a private key."""
    with extra("sign", "A public key"):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    if b"PRIVATE KEY" in data[:MOST_BYTES]:
        raise InputError(f"{file} contains a private key. Do not share it. A check needs the public key only.")
    with suppress(ValueError, UnsupportedAlgorithm):
        key = load_pem_public_key(data[:MOST_BYTES])
        if isinstance(key, Ed25519PublicKey):
            return PublicKey(key.public_bytes_raw().hex())
    raise InputError(
        f"{file} is not an Ed25519 public key in PEM form. It should begin with -----BEGIN PUBLIC KEY-----."
    )


# A document


@dataclass(frozen=True)
class SigningKey:
    """A signer, and the function that signs."""

    signer: Signer
    sign: Callable[[bytes], bytes]


def signed_bytes(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document that are signed: its canonical form without the signature."""
    return canonical({name: value for name, value in content.items() if name != "signature"})


def signed(document: bytes, key: SigningKey) -> bytes:
    """Return a document with its signer and signature; its hash then covers the signer."""
    content: dict[str, Any] = dict(read_canonical(document))  # type: ignore[call-overload]  # a document is an object
    content |= {"signer": key.signer.content}
    content |= {"hash": hash_of(content)}
    return canonical(content | {"signature": key.sign(signed_bytes(content)).hex()})


def signature_line(content: Mapping[str, Any]) -> str:
    """Return a sentence on the signer of a verified document, for its views."""
    if "signature" not in content:
        return NOT_SIGNED
    signer = signer_from(content["signer"])
    return f"Signed by {signer}. To confirm the signer, use verify --key with the signer's published key."


def signature_error(content: Mapping[str, Any], key: PublicKey | None) -> str:
    """Return why a document is not signed by its signer, or not with a given key; empty if it is.

    Errors: InputError where the package cryptography is missing.
    """
    if "signature" not in content or "signer" not in content:
        return "The release is not signed, or its signature or its signer was removed."
    try:
        signer = signer_from(content["signer"])
    except InputError as error:
        return str(error)
    if key is not None and key != signer.key:
        return f"The file names the key {signer.key.fingerprint}, not the given key {key.fingerprint}."
    if not _SIGNATURE.fullmatch(content["signature"]):
        return "The signature does not have 128 hexadecimal digits."
    if not signer.key.confirms(bytes.fromhex(content["signature"]), signed_bytes(content)):
        return "The signature does not match the content. The file was changed after signing, or another key signed it."
    return ""


# The keys of a ledger


@dataclass(frozen=True)
class NamedKey:
    """A key that a ledger names: its row, its signer, the reason for it, and the time."""

    row: int
    signer: Signer
    reason: str
    time: str


def named_keys(path: Path) -> tuple[NamedKey, ...]:
    """Return all signing keys that the ledger names, in the order of their rows; the last one signs.

    Errors: LedgerError.
    """
    with reading(path) as (rows, books):
        events = [books.events[row - 1] for row in books.keys]
        return tuple(_named(event, rows.content(event)) for event in events)


def _named(event: Event, content: bytes) -> NamedKey:
    return NamedKey(event.row, signer_from(read_canonical(content)), event.reason, event.time)


def key_file(path: Path, key: PublicKey) -> Path:
    """Return the file of a private key, by its public key: in the folder of DPBAYES_KEYS, or else of the ledger."""
    folder = Path(os.environ.get(FOLDER) or path.absolute().parent)
    return folder / f"signing-key-{key.fingerprint}.pem"


def make_key(path: Path, name: str, *, reason: str) -> tuple[NamedKey, bytes]:
    """Make a key, write it into a file that only its owner can read, and name it in the ledger.

    Every later release is signed with it; signatures of earlier keys stay valid. Each key has its own file, so no key
    is ever overwritten.

    Returns: The key, and the public key as a PEM file.

    Errors: InputError if the file cannot be written or the ledger refuses; then no release is signed with the key.
    """
    with extra("sign", "A signing key"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    named_keys(path)  # without a ledger, no file is written
    private = Ed25519PrivateKey.generate()
    public = private.public_key()
    signer = Signer(name, PublicKey(public.public_bytes_raw().hex()))
    file = key_file(path, signer.key)
    _write_private(file, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    try:
        key = name_key(path, signer, reason=reason)
    except InputError:
        file.unlink(missing_ok=True)  # nothing can have been signed with it
        raise
    return key, public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def name_key(path: Path, signer: Signer, *, reason: str) -> NamedKey:
    """Write a signing key into the ledger, in place of the former one. Errors: LedgerError."""
    content, reason = canonical(signer.content), checked_reason(reason)
    with writing(path) as (rows, books):
        return _named(rows.add(books, EventKind.KEY, reason=reason, content=content), content)


def signing_key(path: Path) -> SigningKey | None:
    """Return the key that signs a ledger's releases; None if the ledger names no key.

    Errors: InputError, before anything is charged, if its file cannot be used.
    """
    keys = named_keys(path)
    if not keys:
        return None
    signer = keys[-1].signer
    file = key_file(path, signer.key)
    if not file.is_file():
        raise InputError(
            f"The releases of this ledger are signed, and the private key of {signer} is missing. Restore the file "
            f"{file} from a copy. If it is lost, make another key: python -m dpbayes ledger new-key --name NAME "
            "--reason REASON --out key.pem."
        )
    return SigningKey(signer, _loaded(file, signer.key))


def _write_private(file: Path, data: bytes) -> None:
    """Write a new file that only its owner can read. Errors: InputError if it cannot be written, or exists already."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        number = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        raise InputError(f"The key file {file} cannot be written: {error.strerror}.") from None


def _loaded(file: Path, key: PublicKey) -> Callable[[bytes], bytes]:
    """Return the function that signs with the private key in a file. Errors: InputError if it is another key."""
    with extra("sign", "A signed release"):
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    try:
        with file.open("rb") as opened:
            private = load_pem_private_key(opened.read(MOST_BYTES), password=None)
    except OSError as error:
        raise InputError(f"The key file {file} cannot be read: {error.strerror}.") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError(f"The key file {file} does not contain a private key. Restore it from a copy.") from None
    if not isinstance(private, Ed25519PrivateKey) or private.public_key().public_bytes_raw().hex() != key.digits:
        raise InputError(
            f"The key file {brief(file.name, 200)} does not contain the key that the ledger names. Restore it from a "
            "copy."
        )
    return private.sign
