"""A number that is taken away from an account takes its route along."""

from pathlib import Path
from typing import Any

import pytest

from api.common.errors import NotFound
from api.http.preconditions import Precondition
from api.routing.number_removal import remove_number
from api.routing.number_schemas import RouteDocument
from api.routing.number_service import NumberRoutes
from tests.harness.api.cli import switchroom
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import OURS, Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.until import until

ROUTE = b'{"account": "acme", "action": "https://x.example/"}'


async def test_its_route_is_deleted_in_every_spelling(tmp_path: Path, scene: RpcScene) -> None:
    """Engines reject calls to it from then on; the routes of other numbers stay."""
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene) as rest:
        documents = rest.services.documents
        await rest.services.accounts.add_number("acme", "+4721930009")
        for number in (OURS, OURS.removeprefix("+"), "+4721930009"):
            await documents.store.put("acme", "route", number, ROUTE)
        await documents.sync.push("acme")
        assert await switchroom(tmp_path, "account", "number", "rm", "acme", OURS) == (0, "")

        async def is_removed() -> bool:
            await documents.sync.compare_account("acme")
            return (await scene.store.routes()).keys() == {"+4721930009"}

        await until(is_removed, what="the engine to reject calls to the number")


class RemovingEngine:
    """Accepts each route, and removes its number while it is checked."""

    def __init__(self, rest: Rest) -> None:
        self.rest = rest

    async def request_raw(self, *_request: Any) -> bytes:
        """Remove the number."""
        services = self.rest.services
        await remove_number(services.accounts, services.documents.store, "acme", OURS)
        return b""


async def test_a_number_that_is_removed_while_its_route_is_put(kept: Rest) -> None:
    """The route is rejected: another account that gets the number would have it otherwise."""
    routing = kept.services.routing.numbers
    numbers = NumberRoutes(routing.accounts, routing.documents, RemovingEngine(kept))  # type: ignore[arg-type]  # all that it uses
    with pytest.raises(NotFound, match="is no number of this account"):
        await numbers.put("acme", OURS, RouteDocument(action="https://x.example/"), Precondition())
    assert await kept.services.documents.store.owner("route", OURS) is None
