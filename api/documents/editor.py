"""Changes documents: stored in the database, and sent to the engines at once."""

from collections.abc import Awaitable, Callable, Collection, Mapping

from msgspec import Struct

from api.common.errors import Conflict, NotFound, PreconditionFailed
from api.db.row_quota import RowLimit, RowQuota
from api.documents.document import Document, Kind
from api.documents.store import CheckOwner, DocumentStore
from api.documents.tables import documents
from api.http.paging import Page
from api.http.preconditions import ABSENT, Precondition

MAX_ATTEMPTS = 10  # of a change without a condition, while others change the same document
NewBody = Callable[[Document | None], Awaitable[bytes]]  # of what is stored, if it is


def deletion_limit(most: int) -> RowLimit:
    """Return the limit of an account's deleted documents, whose rows stay for a while."""
    what = "at most {:,} documents of an account may be deleted within a week"
    return RowLimit(
        documents.c.account_id,
        most,
        what,
        "SWITCHROOM_MAX_DELETED_DOCUMENTS",
        documents.c.is_deleted,
    )


class DocumentEditor(Struct, frozen=True):
    """Reads and changes the documents of an account.

    `push` sends an account's changes to the engines; if it cannot, they get them later.
    """

    store: DocumentStore
    push: Callable[[str], Awaitable[None]]
    max_documents: int  # of each kind
    deleted: RowQuota

    async def page(
        self, account_id: str, kind: Kind, page: Page
    ) -> tuple[Collection[Document], int]:
        """Return a page of documents by id, and how many there are; of API requests summaries."""
        return await self.store.page(account_id, kind, page)

    async def get(self, account_id: str, kind: Kind, doc_id: str) -> Document:
        """Return a document; raises NotFound."""
        if not doc_id.isprintable():  # PostgreSQL takes no NUL, not even to look for it
            raise NotFound(f"no {kind} of this id")
        return await self.store.get(account_id, kind, doc_id)

    async def find(
        self, account_id: str, kind: Kind, doc_ids: Collection[str]
    ) -> Mapping[str, Document]:
        """Return those of some documents that exist, by id."""
        possible = tuple(each for each in doc_ids if each.isprintable())  # as in `get`
        return await self.store.read(account_id, kind, possible)

    async def sizes(
        self, account_id: str, kind: Kind, doc_ids: Collection[str]
    ) -> Mapping[str, int]:
        """Return the sizes of those of some documents that exist, in bytes."""
        return await self.store.sizes(account_id, kind, tuple(doc_ids))

    async def change(  # noqa: PLR0913 - the document, and what it depends on
        self,
        account_id: str,
        kind: Kind,
        doc_id: str,
        new_body: NewBody,
        condition: Precondition,
        *,
        check_owner: CheckOwner | None = None,
    ) -> Document:
        """Replace a document by one that is made of it; raises PreconditionFailed.

        Without a condition, a change that another one has overtaken is made again, and after some
        attempts stored whatever there is by then: of two writers the last one wins.
        `check_owner` runs within the transaction.
        """
        attempts = 0
        while True:
            attempts += 1
            before = (await self.find(account_id, kind, [doc_id])).get(doc_id)
            version = before.version if before else ABSENT
            condition.check(version)
            if before is None:
                await self.check_room(account_id, kind)
            body = await new_body(before)
            is_last = attempts == MAX_ATTEMPTS and condition.version is None
            expected = None if is_last else version
            try:
                after = await self.store.put(
                    account_id, kind, doc_id, body, expected=expected, check_owner=check_owner
                )
            except PreconditionFailed:
                if condition.version is not None:
                    raise
            else:
                await self.push(account_id)
                return after

    async def check_room(self, account_id: str, kind: Kind) -> None:
        """Check that there is room for one more document; raises Conflict (`quota`)."""
        count = await self.store.count(account_id, kind)
        if kind != "route" and count >= self.max_documents:  # routes are limited by numbers
            text = f"an account has at most {self.max_documents} {kind}s (SWITCHROOM_MAX_DOCUMENTS)"
            raise Conflict(text, "quota")
        if not await self.deleted.has_room(account_id):
            raise self.deleted.limit.error()

    async def delete(
        self, account_id: str, kind: Kind, doc_id: str, version: int | None = None
    ) -> None:
        """Delete a document; raises NotFound and PreconditionFailed."""
        await self.get(account_id, kind, doc_id)  # 404 comes before 412
        await self.store.delete(account_id, kind, doc_id, expected=version)
        self.deleted.add(account_id, 1)
        await self.push(account_id)
