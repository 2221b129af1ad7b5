"""Base of the stores that write documents."""

from api.common.clock import Clock
from api.db.database import Database, Store
from api.documents.cipher import DocumentCipher
from api.documents.collection import CollectionWriter


class CollectionStore(Store):
    """Has a writer of documents; `max_bytes` is what an account may have."""

    def __init__(
        self,
        database: Database,
        now_ms: Clock,
        cipher: DocumentCipher,
        max_bytes: int | None = None,
    ) -> None:
        super().__init__(database, now_ms)
        self._writer = CollectionWriter(database, cipher, max_bytes)
