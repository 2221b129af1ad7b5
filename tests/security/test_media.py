"""Containment of accounts in what they make an engine fetch: audio, and targets of callbacks."""

import pytest

from engine.callbacks.transport import Failed, SignedEvent
from engine.callbacks.transports.grpc import GrpcTransport
from engine.webhooks.address_guard import AddressGuard
from tests.contract.webhooks.customer import LOOPBACK
from wire.callbacks.targets import GrpcTarget


@pytest.mark.parametrize("host", ["93.184.216.34", "2600:1901::1"])
async def test_plain_grpc_leaves_no_allowed_network(host: str) -> None:
    """Events and their signatures are in clear text: a public server needs grpcs://."""
    transport = GrpcTransport(AddressGuard(LOOPBACK))
    refused = await transport.deliver(GrpcTarget(host, 50051), SignedEvent("acme", "1", b"{}", {}))
    assert refused == Failed("refused_address")
    await transport.close()
