"""Builds what stores documents."""

from collections.abc import Sequence

from msgspec import Struct

from api.common.clock import Clock
from api.db.database import Database
from api.documents.cipher import DocumentCipher
from api.documents.flow_store import FlowStore
from api.documents.store import DocumentStore


class DocumentSlice(Struct, frozen=True):
    """The stores of documents."""

    store: DocumentStore
    flows: FlowStore


def build(database: Database, token_secrets: Sequence[str], clock: Clock) -> DocumentSlice:
    """Build the stores; the first secret encrypts, and any of them decrypts."""
    cipher = DocumentCipher(token_secrets)
    return DocumentSlice(DocumentStore(database, clock, cipher), FlowStore(database, clock, cipher))
