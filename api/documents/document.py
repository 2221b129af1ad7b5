"""A stored document, and the numbers by which two stores find what differs."""

import hashlib
from typing import Literal

from msgspec import Struct

Kind = Literal["route", "flow", "request", "agent", "callback", "phone"]
KINDS: tuple[Kind, ...] = ("route", "flow", "request", "agent", "callback", "phone")
SECRET_KINDS = frozenset[Kind]({"request", "callback", "phone"})  # encrypted in the database
CALLBACK_ID = "default"  # an account has one callback document
MAX_ID_CHARS = 128
_DIGEST_CHARS = 12
_MODULUS: int = 16**_DIGEST_CHARS


class Document(Struct, frozen=True):
    """A document of an account. Its version grows with each change, and is its ETag.

    The body is JSON; of a flow it is a `FlowState`.
    """

    account_id: str
    kind: Kind
    id: str
    version: int
    body: bytes
    changed_ms: int = 0


class Tombstone(Struct, frozen=True):
    """The version at which a document was deleted."""

    id: str
    version: int


class CollectionSummary(Struct, frozen=True):
    """What two stores compare: they have the same documents if checksum and count are the same."""

    checksum: int = 0
    count: int = 0


class FlowState(Struct, frozen=True, omit_defaults=True):
    """The body of a flow's document: the number of the version that new calls run; 0: none.

    `last` is the number of the newest version, published or not.
    """

    published: int
    last: int


class FlowVersion(Struct, frozen=True):
    """A version of a flow; versions never change."""

    number: int
    body: bytes
    made_ms: int
    is_published: bool  # now or before


def version_digest(doc_id: str, version: int) -> int:
    """Return what a document contributes to a checksum; Lua scripts compute the same."""
    digest = hashlib.sha1(f"{doc_id}:{version}".encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_DIGEST_CHARS], 16)


def changed_checksum(checksum: int, removed: int, added: int) -> int:
    """Return a checksum with a digest less and another one more."""
    return (checksum - removed + added) % _MODULUS
