"""The signer of a document, its Ed25519 signature, and the signed bytes.

The signed bytes are the canonical form (RFC 8785) of the whole document without the field `signature`. The signer is
part of them, and of the hash of the content.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpbayes.base.libraries import extra
from dpbayes.base.validation import InputError, brief
from dpbayes.releases.document.canonical import canonical

ALGORITHM = "Ed25519"

NOT_SIGNED = "The release is not signed. Nothing in the file proves who made it."

MOST_LETTERS = 200
"""Letters of a signer's name."""

MOST_PEM = 10_000
"""Most bytes of a file with a public key."""

_DER = bytes.fromhex("302a300506032b6570032100")
"""The beginning of the standard form of every Ed25519 public key (RFC 8410), before the 32 bytes of the key."""

_PEM = re.compile(rb"\s*-----BEGIN PUBLIC KEY-----\s+([A-Za-z0-9+/=\s]+?)\s*-----END PUBLIC KEY-----\s*", re.ASCII)
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

    @property
    def pem(self) -> bytes:
        """The key as a PEM file, which OpenSSL and others read."""
        body = base64.b64encode(_DER + bytes.fromhex(self.digits))
        return b"-----BEGIN PUBLIC KEY-----\n" + body + b"\n-----END PUBLIC KEY-----\n"

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
        name = self.name
        if not name.strip() or name != name.strip() or len(name) > MOST_LETTERS or not name.isprintable():
            raise InputError(
                f"The signer's name {brief(name)} must be one line of 1 to {MOST_LETTERS} letters that does not begin "
                "or end with a space."
            )

    @property
    def content(self) -> dict[str, str]:
        """The signer as JSON has it."""
        return {"algorithm": ALGORITHM, "name": self.name, "public_key": self.key.digits}

    def __str__(self) -> str:
        return f"{brief(self.name, MOST_LETTERS + 2)} (key {self.key.fingerprint})"


def signer_from(content: object) -> Signer:
    """Return the signer of JSON. Errors: InputError for other fields, and for an algorithm other than Ed25519."""
    if not isinstance(content, dict) or set(content) != {"algorithm", "name", "public_key"}:
        raise InputError("A signer must be an object with exactly these fields: algorithm, name, public_key.")
    if content["algorithm"] != ALGORITHM:
        raise InputError(f"The signature has the algorithm {brief(content['algorithm'])}; this program reads Ed25519.")
    if not isinstance(content["name"], str) or not isinstance(content["public_key"], str):
        raise InputError("The name and the public key of a signer must be text.")
    return Signer(content["name"], PublicKey(content["public_key"]))


def read_public_key(data: bytes) -> PublicKey:
    """Return the key of a PEM file. Errors: InputError for another file, also for one with a private key."""
    if b"PRIVATE KEY" in data[:MOST_PEM]:
        raise InputError("This file contains a private key. Do not share it. A check needs the public key only.")
    match = _PEM.fullmatch(data) if len(data) <= MOST_PEM else None
    try:
        key = base64.b64decode(b"".join(match[1].split()), validate=True) if match else b""
    except binascii.Error:
        key = b""
    if not key.startswith(_DER) or len(key) != len(_DER) + 32:
        raise InputError(
            "This file is not an Ed25519 public key in PEM form. It should begin with -----BEGIN PUBLIC KEY-----."
        )
    return PublicKey(key[len(_DER) :].hex())


# A document


def signed_bytes(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a document that are signed: its canonical form without the signature."""
    return canonical({name: value for name, value in content.items() if name != "signature"})


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
    if "signature" not in content:
        if "signer" in content:
            return "The file names its signer and has no signature: the signature was removed."
        return f"The release is not signed, or its signature was removed.{_cannot_confirm(key)}"
    if "signer" not in content:
        return "The file has a signature but does not name its signer."
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


def _cannot_confirm(key: PublicKey | None) -> str:
    return "" if key is None else f" The key {key.fingerprint} cannot confirm it."
