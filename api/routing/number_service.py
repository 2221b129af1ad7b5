"""Routes of an account's numbers.

A number has one route, which engines find in each of its spellings (docs/callers.md). Here it is
stored with a plus sign; a route in another spelling, which an operator made, is replaced.
"""

import re
from collections.abc import Collection, Sequence
from functools import partial

import msgspec
from msgspec import Struct

from api.accounts.store import AccountStore
from api.common.errors import InvalidRequest, NotFound
from api.db.page_bytes import MAX_PAGE_BYTES
from api.documents.document import Document, Kind
from api.documents.editor import DocumentEditor
from api.engine_client import EngineClient
from api.http.paging import Page
from api.http.preconditions import Precondition
from api.routing.number_schemas import NumberPage, NumberView, RouteDocument, number_view, route_of
from wire.phone_numbers.e164 import canonical, spellings
from wire.rpc import FieldError

KIND: Kind = "route"
UNKNOWN_FLOW = "unknown_flow"
_FLOW_OF_ACTION = "action.data.flowId"
_DIGITS = re.compile(r"(?:\+|00)?([0-9]{2,20})")


class NumberRoutes(Struct, frozen=True):
    accounts: AccountStore
    documents: DocumentEditor
    engine: EngineClient

    async def list(self, account_id: str, page: Page) -> NumberPage:
        """Return a page of the account's numbers, those without a route, too."""
        numbers, total = await self.accounts.page_numbers(account_id, page.limit, page.offset)
        shown = await self._fitting(account_id, numbers)
        routes = await self._routes(account_id, shown)
        rows = tuple(number_view(each, routes.get(each)) for each in shown)
        return NumberPage(rows, total, page.limit, page.offset)

    async def get(self, account_id: str, text: str) -> NumberView:
        """Return a number with its route; raises NotFound for one that is not the account's."""
        number = await self._own(account_id, text)
        return number_view(number, await self._route(account_id, number))

    async def get_route(self, account_id: str, text: str) -> Document:
        """Return the route of a number; raises NotFound."""
        number = await self._own(account_id, text)
        found = await self._route(account_id, number)
        if found is None:
            raise NotFound(f"{number} has no route")
        return found

    async def put(
        self, account_id: str, text: str, body: RouteDocument, condition: Precondition
    ) -> Document:
        """Set what calls to a number run; raises NotFound and PreconditionFailed."""
        number, route = await self._own(account_id, text), route_of(account_id, body)
        before = await self._route(account_id, number)
        if before is not None and before.id != number:
            condition.check(before.version)
            condition = Precondition()

        async def checked(_stored: Document | None) -> bytes:
            await self._check(number, route, has_flow_id=body.flow_id is not None)
            return msgspec.json.encode(route)

        hold = partial(self.accounts.hold_number, account_id=account_id, number=number)
        after = await self.documents.change(
            account_id, KIND, number, checked, condition, check_owner=hold
        )
        if before is not None and before.id != number:
            await self.documents.delete(account_id, KIND, before.id)
        return after

    async def delete(self, account_id: str, text: str, condition: Precondition) -> None:
        """Delete a number's route; raises NotFound and PreconditionFailed."""
        found = await self.get_route(account_id, text)
        condition.check(found.version)
        await self.documents.delete(account_id, KIND, found.id, condition.version)

    async def _own(self, account_id: str, text: str) -> str:
        digits = _DIGITS.fullmatch(canonical(text, None))
        number = f"+{digits[1]}" if digits else ""
        if not await self.accounts.has_number(account_id, number):
            raise NotFound(f"{text} is no number of this account{_advice(text)}")
        return number

    async def _route(self, account_id: str, number: str) -> Document | None:
        return (await self._routes(account_id, [number])).get(number)

    async def _routes(self, account_id: str, numbers: Collection[str]) -> dict[str, Document]:
        """Return the routes of numbers, in whichever spelling they are stored."""
        by_spelling = {each: number for number in numbers for each in spellings(number)}
        found = await self.documents.find(account_id, KIND, by_spelling)
        routes: dict[str, Document] = {}
        for spelling, number in by_spelling.items():
            if spelling in found:
                routes.setdefault(number, found[spelling])
        return routes

    async def _fitting(self, account_id: str, numbers: Sequence[str]) -> Sequence[str]:
        """Return the first numbers, until their routes have the bytes of a page."""
        by_number = {number: spellings(number) for number in numbers}
        every = [each for names in by_number.values() for each in names]
        sizes = await self.documents.sizes(account_id, KIND, every)
        size = 0
        for place, names in enumerate(by_number.values()):
            if size >= MAX_PAGE_BYTES:
                return numbers[:place]
            size += sum(sizes.get(each, 0) for each in names)
        return numbers

    async def _check(self, number: str, route: object, *, has_flow_id: bool) -> None:
        """Let an engine check a route; raises NotFound for flows of another account."""
        try:
            await self.engine.request_raw("POST", f"/routes/{number}/check", route)
        except InvalidRequest as error:
            if error.code == UNKNOWN_FLOW:
                errors = tuple(map(_of_flow_id, error.errors)) if has_flow_id else error.errors
                detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
                raise NotFound(detail, error.code, errors=errors) from None
            raise


def _of_flow_id(error: FieldError) -> FieldError:
    """Return an engine's error with the path of the body: engines know `flowId` as an action."""
    is_of_flow = error.path == _FLOW_OF_ACTION
    return msgspec.structs.replace(error, path="flowId") if is_of_flow else error


def _advice(text: str) -> str:
    """Return what may be missing: a number is not completed with the account's country."""
    digits = _DIGITS.fullmatch(text) is not None
    is_national = digits and not text.startswith(("+", "00"))
    return "; expected it with its country code, such as +4721930000" if is_national else ""
