"""Bots and recognizers that flood: `python -m tests.harness.streams.flooding_program PORT`.

Each sends what the last part of its address says, as fast as the gateway takes it, until that
closes the connection. `GET /` says that the program runs.
"""

import asyncio
import base64
import json
import sys
from typing import Any

from tests.harness.streams.odd_bots import BINARY, PING, PONG, TEXT, frame, shake_hands

_LARGE = 900_000  # bytes, not far below what a gateway takes


def _text(**message: Any) -> bytes:
    return frame(TEXT, json.dumps(message).encode())


def _utterance() -> bytes:
    place = {"startMs": 0, "endMs": 20}
    return (
        _text(type="speech-started", atMs=0)
        + _text(type="speech-ended", atMs=20)
        + _text(type="final", text="yes " * 1_000, confidence=0.9, **place)
    )


def _media(frames: int) -> bytes:
    return _text(event="media", media={"payload": base64.b64encode(_SPEECH * frames).decode()})


_SPEECH = b"\x80\x00" * 80
_READY = _text(type="ready", recognizer="flooding")
FLOODS: dict[str, tuple[bytes, bytes]] = {  # what is sent first, and what follows it for ever
    "interims": (_READY, _text(type="interim", text="yes", confidence=0.5) * 50),
    "large-interims": (_READY, _text(type="interim", text="y" * _LARGE, confidence=0.5)),
    "utterances": (_READY, _utterance()),
    "marks": (b"", _text(event="mark", mark={"name": "hi"}) * 50),
    "unknown-texts": (b"", _text(event="unknown", text="y" * _LARGE)),
    "junk": (b"", frame(TEXT, b"x" * _LARGE)),
    "audio": (b"", _media(1) * 50),
    "large-audio": (b"", _media(4_000)),
    "ten-megabytes": (b"", frame(TEXT, b"x" * 10_000_000)),
    "parts": (frame(TEXT, b"", is_last=False), frame(0, b"", is_last=False) * 10_000),
    "pings": (b"", frame(PING, b"") * 10_000),
    "pongs": (b"", frame(PONG, b"") * 10_000),
    "pongs-at-once": (frame(TEXT, b"x" * _LARGE) * 9, frame(PONG, b"") * 100_000),
    "reserved": (b"", frame(11, b"") * 10_000),
    "binary": (b"", frame(BINARY, b"x" * _LARGE)),
}


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        request = await reader.readuntil(b"\r\n\r\n")
        name = request.split(b" ")[1].rpartition(b"/")[2].decode()
        if name not in FLOODS:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            return
        first, rest = FLOODS[name]
        shake_hands(request, writer)
        writer.write(first)
        while True:
            writer.write(rest)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass  # the gateway has closed it
    finally:
        writer.close()


async def main(port: int) -> None:
    """Serve until the process ends."""
    server = await asyncio.start_server(_serve, "127.0.0.1", port)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
