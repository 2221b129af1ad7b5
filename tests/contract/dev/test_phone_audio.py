"""What the caller of the lab sends over UDP."""

import asyncio

from dev.phone.g711 import SILENCE
from dev.phone.rtp import Audio

HEADER_BYTES = 12


class Peer(asyncio.DatagramProtocol):
    """Keeps the audio that it receives."""

    def __init__(self) -> None:
        self.packets: asyncio.Queue[bytes] = asyncio.Queue()

    def datagram_received(self, data: bytes, _addr: object) -> None:
        self.packets.put_nowait(data[HEADER_BYTES:])


async def test_sound_is_sent_in_frames() -> None:
    """Once, in order, and filled up with silence; silence is sent before and after it."""
    loop = asyncio.get_running_loop()
    transport, peer = await loop.create_datagram_endpoint(Peer, local_addr=("127.0.0.1", 0))
    audio, _ = await Audio.open()
    audio.speak_to(transport.get_extra_info("sockname"))
    played = asyncio.create_task(audio.play(bytes([1] * 160 + [2] * 100)))
    found = b""
    while not found.rstrip(bytes([SILENCE])) or not found.endswith(bytes([SILENCE]) * 200):
        found += await peer.packets.get()
    await played
    audio.close()
    transport.close()
    assert found.strip(bytes([SILENCE])) == bytes([1] * 160 + [2] * 100)
