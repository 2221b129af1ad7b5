"""A flow that is rolled back to a version far behind its newest one."""

import msgspec

from tests.harness.api.rest import Rest

FIRST = msgspec.json.encode({"type": "say", "data": {"text": "hello"}})
LATER = 101  # the engines' store keeps as many versions less one


async def test_the_published_version_stays_in_the_engines(kept: Rest) -> None:
    """Storing the version 100 after it does not remove it, also in a store that is refilled."""
    documents, store = kept.services.documents, kept.scene.store
    await documents.flows.put_flow_version("acme", "ivr", FIRST)
    for number in range(2, LATER + 1):
        body = msgspec.json.encode({"number": number})
        await documents.flows.put_flow_version("acme", "ivr", body, publish=False)
    await documents.flows.publish("acme", "ivr", LATER)
    await documents.flows.publish("acme", "ivr", 1)
    await documents.sync.push("acme")
    assert await store.flow("acme", "ivr") == (1, FIRST)
    store.documents.clear()
    await documents.sync.compare_next()
    assert await store.flow("acme", "ivr") == (1, FIRST)
