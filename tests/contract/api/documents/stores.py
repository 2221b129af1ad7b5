"""Stores of documents for tests, with accounts."""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

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


async def undo_contact_bytes(connection: AsyncConnection) -> None:
    """Leave the tables as they were before migration 0037."""
    await connection.execute(text("ALTER TABLE documents DROP COLUMN summary"))
    changes = ("inserted", "deleted", "updated")
    triggers = [f"{kind}_bytes_{each}" for kind in ("contact", "tag") for each in changes]
    what = "TRIGGER {}" if connection.dialect.name == "sqlite" else "FUNCTION {} CASCADE"
    for each in ("contact_bytes_of_new_list", *triggers):
        await connection.execute(text(f"DROP {what.format(each)}"))
    await connection.execute(text("ALTER TABLE contact_imports DROP COLUMN rejected_bytes"))
    await connection.execute(text("ALTER TABLE contact_lists DROP COLUMN bytes"))


async def undo_account_columns(connection: AsyncConnection) -> None:
    """Leave the tables as they were before migration 0034."""
    await undo_contact_bytes(connection)
    await connection.execute(text("DROP INDEX ix_dnc_entries_is_active"))
    await connection.execute(text("DROP TABLE endpoints"))
    await connection.execute(text("ALTER TABLE accounts DROP COLUMN recognizers"))


async def undo_document_sizes(connection: AsyncConnection) -> None:
    """Leave the tables as they were before migration 0028."""
    await undo_account_columns(connection)
    await connection.execute(text("ALTER TABLE contact_files DROP COLUMN header_row"))
    await connection.execute(text("DROP INDEX ix_dnc_entries_refused"))
    await connection.execute(text("ALTER TABLE dnc_entries DROP COLUMN refusal"))
    await connection.execute(text("DROP TABLE transcripts"))
    await connection.execute(text("ALTER TABLE accounts DROP COLUMN transcripts"))
    await connection.execute(text("DROP INDEX ix_documents_agent"))
    await connection.execute(text("DROP INDEX ix_document_collections_version"))
    await connection.execute(text("ALTER TABLE document_collections DROP COLUMN size"))
    await connection.execute(text("UPDATE alembic_version SET version_num = '0027'"))
