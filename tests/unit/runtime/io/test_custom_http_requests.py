"""Accounts' API requests: read from the store and sent."""

import time

import pytest
from msgspec.json import encode

from base.address_guard import guarded_session
from engine.runtime.io.custom_http_requests import ApiRequestRunner
from engine.store.errors import StoreDown
from engine.webhooks.api_sender import ApiSender
from engine.webhooks.errors import WebhookFailed
from tests.harness.memory_store.store import MemoryStore
from tests.harness.scenarios.graphs import API
from tests.harness.signing import fixed_signer
from tests.harness.store.documents import put_request
from wire.request import ApiRequest


class Down(MemoryStore):
    """A store that is down."""

    async def request(self, account: str, request_id: str) -> bytes | None:
        """Fail."""
        raise StoreDown(f"server:6379 {account} {request_id}")


@pytest.mark.parametrize(
    ("store", "account", "reason"),
    [(MemoryStore(), "acme", "unknown_request"), (Down(), "acme", "store_down")],
    ids=["none", "down"],
)
async def test_requests_that_cannot_be_read(store: MemoryStore, account: str, reason: str) -> None:
    """An unknown request, another account's request and a store that is down have reasons."""
    await put_request(store, "other", API, encode(ApiRequest("https://a.example/")))
    async with guarded_session() as session:
        book = ApiRequestRunner(
            store, ApiSender(lambda _: session, time.time, lambda: 0.5), fixed_signer()
        )
        with pytest.raises(WebhookFailed) as failed:
            await book.ask(account, API, lambda _name: None, "k")
    assert failed.value.reason == reason
    assert "server:6379" not in str(failed.value)
