"""Stores of documents for tests, with accounts."""

from api.accounts.store import Account, AccountStore
from api.db.database import Database
from api.documents.cipher import DocumentCipher
from api.documents.flow_store import FlowStore
from api.documents.store import DocumentStore
from tests.harness.api.manual_clock import ManualClock

SECRET = "a secret of 32 characters or more"  # noqa: S105 - of a test


def document_store(database: Database, clock: ManualClock, *secrets: str) -> DocumentStore:
    """Return a store that encrypts with the first secret."""
    return DocumentStore(database, clock, DocumentCipher(secrets or (SECRET,)))


def flow_store(database: Database, clock: ManualClock) -> FlowStore:
    """Return a store of flows."""
    return FlowStore(database, clock, DocumentCipher((SECRET,)))


async def add_accounts(database: Database, *names: str) -> None:
    """Add accounts."""
    for each in names:
        await AccountStore(database, lambda: 1).add(Account(each, each))
