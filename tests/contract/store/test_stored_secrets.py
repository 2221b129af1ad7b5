"""M8: customers' secrets are not in clear text in the store."""

import pytest
from redis.asyncio import Redis

from engine.store.redis.document_cipher import DocumentCipher, UnreadableDocument
from engine.store.redis.store import RedisStore
from tests.harness.servers.valkey import Valkey
from tests.harness.store.documents import put_document, put_request
from tests.harness.until import MAX_WAIT_S
from wire.documents.versioned import CALLBACK_ID

OLD, NEW = "o" * 32, "n" * 32
SECRET = b'{"secret":"whsec_c2VjcmV0"}'


@pytest.fixture
async def valkey(shared_valkey: Valkey) -> Valkey:
    """Empty the server."""
    async with Redis(port=shared_valkey.port) as client:
        await client.flushall()
    return shared_valkey


async def stored(valkey: Valkey) -> bytes:
    """Return all values of the server."""
    async with Redis(port=valkey.port) as client:
        found: list[object] = []
        for key in (*await client.keys("requests:*"), *await client.keys("callbacks:*")):
            found += (await client.hgetall(key)).values()
    return b"".join(each for each in found if isinstance(each, bytes))


async def test_secrets_are_encrypted(valkey: Valkey) -> None:
    """Those of webhooks, and those of API requests; engines with the key read them."""
    store = RedisStore(valkey.url, timeout_s=MAX_WAIT_S, cipher=DocumentCipher(OLD))
    try:
        await put_request(store, "acme", "a1", SECRET)
        await put_document(store, "acme", "callback", CALLBACK_ID, SECRET)
        assert b"whsec" not in await stored(valkey)
        assert await store.request("acme", "a1") == SECRET
        assert await store.requests("acme", ["a1"]) == {"a1": SECRET}
        assert await store.callback_queue.account("acme") == (SECRET, -1)
        await put_request(store, "acme", "a1", None)
        assert await store.request("acme", "a1") is None
    finally:
        await store.close()


def test_a_stored_secret_stays_readable() -> None:
    """Its form is part of the store's: an engine of a later version has to read it."""
    form = (
        "0073697631dd26f180fbde95253edff7b2e046eebf7188363ae3971c50861b0382bd0ed077de838b8679a997fc"
        "5d4bd6"
    )
    assert DocumentCipher(OLD).encrypt("requests:acme", SECRET).hex() == form
    assert DocumentCipher(NEW, [OLD]).decrypt("requests:acme", bytes.fromhex(form)) == SECRET


async def test_a_key_is_introduced_and_changed(valkey: Valkey) -> None:
    """What was stored before stays readable, and is encrypted when it is changed."""
    ciphers = [
        DocumentCipher(),
        DocumentCipher("", [OLD]),
        DocumentCipher(OLD),
        DocumentCipher(OLD, [NEW]),
        DocumentCipher(NEW, [OLD]),
        DocumentCipher(NEW),
    ]
    stores = [RedisStore(valkey.url, timeout_s=MAX_WAIT_S, cipher=each) for each in ciphers]
    try:
        before: bytes | None = None
        for number, store in enumerate(stores):
            assert await store.callback_queue.account("acme") == (before, -1)
            before = b'{"whsec":%d}' % number
            await put_document(store, "acme", "callback", CALLBACK_ID, before)
            assert (b"whsec" in await stored(valkey)) is (number < 2)
    finally:
        for store in stores:
            await store.close()


def test_a_document_is_bound_to_its_place() -> None:
    """Who can write to the store cannot give one account's secret to another."""
    cipher = DocumentCipher(OLD)
    assert cipher.decrypt("a", cipher.encrypt("a", SECRET)) == SECRET
    with pytest.raises(UnreadableDocument):
        cipher.decrypt("b", cipher.encrypt("a", SECRET))
    with pytest.raises(UnreadableDocument):
        DocumentCipher(NEW).decrypt("a", cipher.encrypt("a", SECRET))
