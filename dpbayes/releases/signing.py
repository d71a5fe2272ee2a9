"""Signing keys: stored in a file next to the ledger, named in the ledger, and used for every release.

The private key never leaves its file. The ledger contains the public key, so that it can be published, and so that
releases can be compared with it after the key was replaced.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpbayes.base.libraries import extra
from dpbayes.base.validation import InputError, brief
from dpbayes.releases import ledger
from dpbayes.releases.document.canonical import canonical, hash_of, read_canonical
from dpbayes.releases.document.signature import PublicKey, Signer, signed_bytes, signer_from

FOLDER = "DPBAYES_KEYS"
"""The environment variable for the folder of the private keys."""

MOST_BYTES = 10_000
"""Most bytes of a file with a private key."""


_SIGNATURE = b',"signature":"'
"""In canonical form, only the field contains these bytes, because a quote within a text has a backslash before it."""


@dataclass(frozen=True)
class SigningKey:
    """A signer, and the function that signs."""

    signer: Signer
    sign: Callable[[bytes], bytes]


def keys_folder(path: Path) -> Path:
    """Return the folder of private keys: the folder in DPBAYES_KEYS, or else that of the ledger."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else path.absolute().parent


def key_file(path: Path, key: PublicKey) -> Path:
    """Return the file of the private key that belongs to a public key."""
    return keys_folder(path) / f"signing-key-{key.fingerprint}.pem"


def make_key(path: Path, name: str, *, reason: str, replaces: int | None = None) -> ledger.NamedKey:
    """Make a key, write it into a file that only its owner can read, and name it in the ledger.

    Each key has its own file, so no key is ever overwritten. With `replaces`, the key in that row signs no new
    releases; earlier signatures stay valid.

    Errors: InputError if the file cannot be written or the ledger refuses; then no release is signed with the key.
    """
    with extra("sign", "A signing key"):
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    ledger.named_keys(path)  # without a ledger, no file is written
    private = Ed25519PrivateKey.generate()
    signer = Signer(name, PublicKey(private.public_key().public_bytes_raw().hex()))
    file = key_file(path, signer.key)
    _write_private(file, private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    try:
        return ledger.name_key(path, signer, reason=reason, replaces=replaces)
    except InputError:
        file.unlink(missing_ok=True)  # nothing can have been signed with it
        raise


def signing_key(path: Path) -> SigningKey | None:
    """Return the key that signs a ledger's releases on this computer; None if the ledger names no key.

    If several keys are in use, it is the newest key with a file on this computer.

    Errors: InputError, before anything is charged, if keys are in use and no file of them can be used.
    """
    in_use = [key for key in ledger.named_keys(path) if key.replaced_in is None]
    if not in_use:
        return None
    for key in reversed(in_use):
        file = key_file(path, key.signer.key)
        if file.is_file():
            return SigningKey(key.signer, _loaded(file, key.signer.key))
    newest = in_use[-1]
    raise InputError(
        f"The releases of this ledger are signed, and the private key of {newest.signer} is missing. Restore the file "
        f"{key_file(path, newest.signer.key)} from a copy. If it is lost, replace it: python -m dpbayes ledger new-key "
        f"--name NAME --replaces {newest.row} --reason REASON."
    )


def signed(document: bytes, key: SigningKey) -> bytes:
    """Return a document with its signer and signature; its hash then covers the signer."""
    content: dict[str, Any] = dict(read_canonical(document))  # type: ignore[call-overload]  # a document is an object
    content |= {"signer": key.signer.content}
    content |= {"hash": hash_of(content)}
    return canonical(content | {"signature": key.sign(signed_bytes(content)).hex()})


def is_signed(document: bytes) -> bool:
    """Whether a document has a signature, valid or not."""
    return _SIGNATURE in document


def signer_of(document: bytes) -> Signer:
    """Return the signer that a signed document names. Errors: InputError if it names none."""
    content = read_canonical(document)
    return signer_from(content.get("signer") if isinstance(content, dict) else None)


def unsigned(document: bytes) -> bytes:
    """Return a document without its signer and signature, with the hash of the rest."""
    content: dict[str, Any] = dict(read_canonical(document))  # type: ignore[call-overload]  # a document is an object
    rest = {name: content[name] for name in content if name not in ("signer", "signature")}
    return canonical(rest | {"hash": hash_of(rest)})


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
