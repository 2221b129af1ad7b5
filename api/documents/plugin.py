"""Builds what stores documents and keeps the engines' store the same."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from api.common.clock import Clock
from api.db.database import Database
from api.documents.agent_store import AgentStore
from api.documents.cipher import DocumentCipher
from api.documents.comparison import DocumentComparison
from api.documents.flow_store import FlowStore
from api.documents.store import DocumentStore
from api.documents.sync import DocumentSync
from api.documents.sync_store import SyncStore
from api.documents.transfer import DocumentTransfer
from api.engine_client import EngineClient


class DocumentSlice(Struct, frozen=True):
    """The stores of documents; `sync` sends what was changed in them."""

    store: DocumentStore
    agents: AgentStore
    flows: FlowStore
    sync: DocumentSync


def build(  # noqa: PLR0913 - what the stores need
    database: Database,
    engine: EngineClient,
    token_secrets: Sequence[str],
    clock: Clock,
    report_differences: Callable[[int], None],
    *,
    max_bytes: int | None = None,
) -> DocumentSlice:
    """Build the stores; the first secret encrypts, and any of them decrypts."""
    cipher = DocumentCipher(token_secrets)
    store = SyncStore(database, clock, cipher)
    transfer = DocumentTransfer(engine, store, clock)
    comparison = DocumentComparison(engine, store, transfer, clock, report_differences)
    return DocumentSlice(
        DocumentStore(database, clock, cipher, max_bytes),
        AgentStore(database, clock, cipher, max_bytes),
        FlowStore(database, clock, cipher, max_bytes),
        DocumentSync(store, comparison, clock),
    )
