"""An address that no phone has registered from: it keeps what it receives."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.harness.ports import free_port

HOST = "127.0.0.9"


class RecordedDatagrams(asyncio.DatagramProtocol):
    """What has arrived at `address`."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.received: list[bytes] = []

    def datagram_received(self, data: bytes, _addr: object) -> None:
        self.received.append(data)


@asynccontextmanager
async def recorded_datagrams() -> AsyncIterator[RecordedDatagrams]:
    """Receive at a free port."""
    port = free_port()
    udp, found = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: RecordedDatagrams(f"{HOST}:{port}"), local_addr=(HOST, port)
    )
    try:
        yield found
    finally:
        udp.close()
