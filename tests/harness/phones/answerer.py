"""One SIPp that answers any number of calls, silently."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from dev.servers.ports import is_udp_bound
from dev.servers.process import Process
from tests.harness.ports import media_port
from tests.harness.until import until


@asynccontextmanager
async def answering_all(folder: Path, port: int) -> AsyncIterator[None]:
    """Answer all calls to a port within the context."""
    media = ("-mi", "127.0.0.1", "-mp", str(media_port()))
    argv = ("sipp", "-sn", "uas", "-i", "127.0.0.1", "-p", str(port), *media, "-nostdin")
    sipp = Process.start(argv, log=folder / "answerer.log", cwd=folder)
    try:
        await until(lambda: is_udp_bound(port), what="SIPp to listen")
        yield
    finally:
        await sipp.kill()
