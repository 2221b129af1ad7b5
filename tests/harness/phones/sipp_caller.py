"""SIPp's built-in scenarios: a caller that hangs up by itself, and a phone that answers."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from base.child_processes import kill
from tests.harness.ports import free_port, media_port


async def call_through(sip_port: int, number: str, talk_s: int) -> None:
    """Make one call and hang up after `talk_s`.

    Raises RuntimeError if the call fails or the other side hangs up first.
    """
    local, media = free_port(), media_port()
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            *("sipp", "-sn", "uac", f"127.0.0.1:{sip_port}", "-s", number, "-m", "1"),
            *("-d", str(talk_s * 1000), "-i", "127.0.0.1", "-p", str(local), "-mp", str(media)),
            *("-nostdin", "-timeout", f"{talk_s + 20}s", "-timeout_error"),
            stdout=asyncio.subprocess.DEVNULL,
            cwd=folder,
        )
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            kill(process)
            raise
        if status != 0:
            raise RuntimeError(f"no complete call of {talk_s} s went through SIP port {sip_port}")


@asynccontextmanager
async def answering(sip_port: int) -> AsyncIterator[None]:
    """Answer one call on a port of 127.0.0.1 within the context."""
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            *("sipp", "-sn", "uas", "-i", "127.0.0.1", "-p", str(sip_port), "-m", "1"),
            *("-mp", str(media_port()), "-nostdin"),
            stdout=asyncio.subprocess.DEVNULL,
            cwd=folder,
        )
        try:
            yield
        finally:
            kill(process)
            await process.wait()
