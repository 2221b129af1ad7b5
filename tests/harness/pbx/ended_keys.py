"""The keys whose end a PBX has reported over AMI to everybody who reads its key events."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from base.tasks import cancel_all
from tests.harness.pbx.asterisk import Pbx

BLOCK_END = b"\r\n\r\n"


@asynccontextmanager
async def ended_keys(pbx: Pbx) -> AsyncIterator[list[str]]:
    """Read the events; yield the keys so far, in order."""
    keys: list[str] = []
    reader, writer = await asyncio.open_connection("127.0.0.1", pbx.ami_port)
    login = f"Action: Login\r\nUsername: {pbx.ami_user}\r\nSecret: {pbx.passwords.ami}\r\n"
    writer.write(f"{login}Events: dtmf\r\n\r\n".encode())
    assert b"Response: Success" in await reader.readuntil(BLOCK_END)
    reading = asyncio.create_task(_read(reader, keys))
    try:
        yield keys
    finally:
        await cancel_all([reading])
        writer.close()


async def _read(reader: asyncio.StreamReader, keys: list[str]) -> None:
    while True:
        lines = (await reader.readuntil(BLOCK_END)).decode().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines if ": " in line)
        if fields.get("Event") == "DTMFEnd" and fields["Direction"] == "Received":
            keys.append(fields["Digit"])
