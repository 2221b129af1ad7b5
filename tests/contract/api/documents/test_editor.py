"""Changes of documents by several writers at once."""

import asyncio

import pytest

from api.common.errors import PreconditionFailed
from api.documents.document import Document
from api.documents.editor import MAX_ATTEMPTS, DocumentEditor
from api.http.preconditions import Precondition
from tests.harness.api.rest import Rest


@pytest.fixture
def editor(kept: Rest) -> DocumentEditor:
    """Provide the editor of the REST layer."""
    return kept.services.routing.requests.documents


async def test_without_a_condition_the_last_writer_wins(editor: DocumentEditor) -> None:
    """Also one that others overtake each time; it begins with what they have stored."""
    seen: list[bytes] = []

    async def overtaken(before: Document | None) -> bytes:
        seen.append(before.body if before else b"")
        await editor.store.put("acme", "request", "r", b"%d" % len(seen))
        return b"last"

    after = await editor.change("acme", "request", "r", overtaken, Precondition())
    assert (await editor.get("acme", "request", "r")) == after
    assert after.body == b"last"
    assert seen == [b"", *(b"%d" % number for number in range(1, MAX_ATTEMPTS))]


async def test_with_a_condition_it_is_not_stored(editor: DocumentEditor) -> None:
    """The version that was expected has been replaced during the check."""
    first = await editor.store.put("acme", "request", "r", b"1")

    async def overtaken(_before: Document | None) -> bytes:
        await editor.store.put("acme", "request", "r", b"2")
        return b"3"

    with pytest.raises(PreconditionFailed):
        await editor.change("acme", "request", "r", overtaken, Precondition(first.version))
    assert (await editor.get("acme", "request", "r")).body == b"2"


async def test_many_writers_at_once(editor: DocumentEditor) -> None:
    """None is rejected."""

    async def put(number: int) -> bytes:
        async def body(_before: Document | None) -> bytes:
            return b"%d" % number

        return (await editor.change("acme", "request", "r", body, Precondition())).body

    stored = await asyncio.gather(*map(put, range(20)))
    assert (await editor.get("acme", "request", "r")).body in stored
