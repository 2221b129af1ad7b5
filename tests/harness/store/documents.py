"""Documents that a test puts into a store, each with a version that replaces what is there."""

import msgspec

from engine.runtime.agents.phone_credentials import PhoneCredentials
from engine.store.store import Store
from engine.store.versioned_documents import VersionedDocument, owner_in
from wire.agents import phone_name
from wire.documents.versioned import DocumentKind, FlowState


async def put_document(
    store: Store, account: str, kind: DocumentKind, doc_id: str, body: bytes | None
) -> None:
    """Store a document; without a body, delete it."""
    version, stored = 0, max(1, await store.time_ms())
    while stored != version:
        version = stored + 1
        document = VersionedDocument(doc_id, version, body)
        (stored,) = await store.documents.put(account, kind, [document])


async def put_route(store: Store, number: str, body: bytes) -> None:
    """Store the route of a number."""
    await put_document(store, owner_in(body), "route", number, body)


async def put_request(store: Store, account: str, request_id: str, body: bytes | None) -> None:
    """Store an API request, or delete it."""
    await put_document(store, account, "request", request_id, body)


async def put_agent(store: Store, account: str, agent_id: str, body: bytes | None) -> None:
    """Store an agent, or delete it."""
    await put_document(store, account, "agent", agent_id, body)


async def put_phone(store: Store, name: str, body: bytes) -> None:
    """Store the credentials of a phone."""
    await put_document(store, owner_in(body), "phone", name, body)


async def put_credentials(store: Store, endpoint: str, credentials: PhoneCredentials) -> None:
    """Store the credentials of an endpoint."""
    await put_phone(store, phone_name(endpoint), msgspec.json.encode(credentials))


async def put_flow(store: Store, account: str, flow_id: str, body: bytes) -> int:
    """Store and publish a flow's next version; return its number."""
    published = await store.flow(account, flow_id)
    number = published[0] + 1 if published else 1
    await store.documents.put_flow_version(account, flow_id, number, body)
    state = msgspec.json.encode(FlowState(number, number))
    await put_document(store, account, "flow", flow_id, state)
    return number
