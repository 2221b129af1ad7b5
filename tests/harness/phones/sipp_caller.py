"""SIPp's own scenarios: one call that hangs up by itself, and a phone that takes one."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.harness.ports import free_port, media_port


async def call_through(sip_port: int, number: str, talks_s: int) -> None:
    """Make one call: INVITE, 200, ACK, the talk, BYE, 200.

    Raises RuntimeError if it goes otherwise: if the other side hangs up first, too.
    """
    local, media = free_port(), media_port()
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            *("sipp", "-sn", "uac", f"127.0.0.1:{sip_port}", "-s", number, "-m", "1"),
            *("-d", str(talks_s * 1000), "-i", "127.0.0.1", "-p", str(local), "-mp", str(media)),
            *("-nostdin", "-timeout", f"{talks_s + 20}s", "-timeout_error"),
            stdout=asyncio.subprocess.DEVNULL,
            cwd=folder,
        )
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            process.kill()
            raise
        if status != 0:
            raise RuntimeError(f"no whole call of {talks_s} s went through SIP port {sip_port}")


@asynccontextmanager
async def answering(sip_port: int) -> AsyncIterator[None]:
    """Answer one call on a port of loopback; the phone ends with the context."""
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
            if process.returncode is None:
                process.kill()
            await process.wait()
