"""A PBX that lets no more connections wait; the kernel repeats one too late for a caller."""

import asyncio
import socket

from picows.url import parse_url

from streams.pbx import open_socket
from tests.harness.servers.full_queue import connecting_ports, full_queue
from tests.harness.until import until


async def test_a_connection_is_tried_again() -> None:
    """With another socket, before a second has passed."""
    with full_queue() as listening:
        port, seen = listening.getsockname()[1], set[int]()
        opening = asyncio.create_task(open_socket(parse_url(f"ws://127.0.0.1:{port}/media/1")))

        def is_repeated() -> bool:
            seen.update(connecting_ports(port))
            return len(seen) > 1

        await until(is_repeated, every_s=0.005, what="another connection")
        listening.setblocking(False)
        accepted = [await asyncio.get_running_loop().sock_accept(listening) for _ in range(2)]
        with await opening as opened:
            assert opened.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert not opened.getblocking()
        for each, _ in accepted:
            each.close()
