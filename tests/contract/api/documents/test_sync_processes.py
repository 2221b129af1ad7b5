"""Several processes that synchronize documents, and one that reaches no engine."""

import asyncio

import msgspec
from structlog.testing import capture_logs

from api.documents.plugin import DocumentSlice, build
from api.engine_client import EngineClient
from api.jobs.housekeeping import background
from tests.harness.api.rest import OURS, SECRET, Rest
from tests.harness.until import until

ROUTE = msgspec.json.encode({"account": "acme", "action": "https://x.example/"})
REQUEST = msgspec.json.encode({"url": "https://x.example/", "secrets": {"key": "a secret"}})
REQUEST_ID = "0123456789abcdef01234567"


def ignore(_differences: int) -> None:
    """Report nothing."""


async def test_several_processes_fill_a_lost_store(kept: Rest, documents: DocumentSlice) -> None:
    """They do not disturb each other; nor does a change meanwhile."""
    services = kept.services
    others = [
        build(services.database, services.engine, [SECRET], services.now_ms, ignore)
        for _ in range(3)
    ]
    for number in range(600):
        route = ROUTE.replace(b"x.ex", b"x%d.ex" % number)
        await documents.store.put("acme", "route", f"+47{number:08}", route)
    last = ROUTE.replace(b"x.ex", b"last.ex")

    async def change() -> None:
        await documents.store.put("acme", "route", "+4700000007", last)
        await documents.sync.push("acme")

    syncs = (each.sync.compare_all() for each in (documents, *others))
    await asyncio.gather(*syncs, change())
    await documents.sync.compare_account("acme")
    assert len(await kept.scene.store.routes()) == 600
    assert await kept.scene.store.route("+4700000007") == last


async def test_a_change_while_no_engine_answers(kept: Rest, documents: DocumentSlice) -> None:
    """It is stored, and sent when an engine is there again."""
    services = kept.services
    away = EngineClient(services.engine.http, ["http://127.0.0.1:1"])
    alone = build(services.database, away, [SECRET], services.now_ms, ignore)
    await alone.store.put("acme", "route", OURS, ROUTE)
    with capture_logs() as logs:
        await alone.sync.push("acme")
    assert [each["event"] for each in logs] == ["documents not sent"]
    async with background(alone.sync.run(0.01)), background(documents.sync.run(0.01)):

        async def is_there() -> bool:
            return await kept.scene.store.route(OURS) == ROUTE

        await until(is_there)
        documents.sync.notify("acme")


async def test_documents_are_encrypted_with_a_new_secret(
    kept: Rest, documents: DocumentSlice
) -> None:
    """So that the former secret is needed no longer than its tokens."""
    services = kept.services
    await documents.store.put("acme", "request", REQUEST_ID, REQUEST)
    new = "n" * 32
    rotated = build(services.database, services.engine, [new, SECRET], services.now_ms, ignore)
    async with background(rotated.sync.run(0.01)):
        after = build(services.database, services.engine, [new], services.now_ms, ignore)

        async def is_encrypted() -> bool:
            try:
                return (await after.store.get("acme", "request", REQUEST_ID)).body == REQUEST
            except Exception:  # noqa: BLE001 - not yet
                return False

        await until(is_encrypted)
