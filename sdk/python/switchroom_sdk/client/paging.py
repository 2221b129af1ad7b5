"""Lists: iterators over all rows, which request a page when they need it."""

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from switchroom_sdk.client.request import AsyncSender, Request, Sender


class _Page(Protocol):
    @property
    def data(self) -> Sequence[Any]: ...


ItemT = TypeVar("ItemT")
PageT = TypeVar("PageT", bound=_Page)


class Paginator(Generic[ItemT, PageT]):
    """Iterates over all rows of a list; `pages()` over its pages, `first()` is the first page."""

    def __init__(self, client: Sender, request: Request, kind: type[PageT]) -> None:
        self._client = client
        self._request = request
        self._kind = kind

    def __iter__(self) -> Iterator[ItemT]:
        for page in self.pages():
            yield from page.data

    def pages(self) -> Iterator[PageT]:
        request: Request | None = self._request
        while request is not None:
            page = self._client.send(request, self._kind)
            yield page
            request = next_request(request, page)

    def first(self) -> PageT:
        return self._client.send(self._request, self._kind)


class AsyncPaginator(Generic[ItemT, PageT]):
    """Iterates over all rows of a list; `pages()` over its pages, `first()` is the first page."""

    def __init__(self, client: AsyncSender, request: Request, kind: type[PageT]) -> None:
        self._client = client
        self._request = request
        self._kind = kind

    async def __aiter__(self) -> AsyncIterator[ItemT]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def pages(self) -> AsyncIterator[PageT]:
        request: Request | None = self._request
        while request is not None:
            page = await self._client.send(request, self._kind)
            yield page
            request = next_request(request, page)

    async def first(self) -> PageT:
        return await self._client.send(self._request, self._kind)


def next_request(request: Request, page: Any) -> Request | None:
    """Return the request for the next page: by its cursor, or by the number of rows so far."""
    if hasattr(page, "next_cursor"):
        if page.next_cursor is None:
            return None
        query = {**request.query, "cursor": page.next_cursor}
        if query.get("offset", UNSET) is not UNSET:
            query["offset"] = 0  # it counts from the cursor
        return replace(request, query=query)
    if not hasattr(page, "offset") or not page.data:
        return None
    offset = page.offset + len(page.data)
    return (
        replace(request, query={**request.query, "offset": offset})
        if (offset < page.total)
        else None
    )
