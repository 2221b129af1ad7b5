"""A listener to a PBX node over AMI that records its calls, and the monitor that calls it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from base.tasks import cancel_all
from engine.ami.monitor import AmiMonitor
from tests.harness.ami.fake_manager import SECRET


class RecordingListener:
    """A listener that records its calls."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def on_booted(self) -> None:
        self.calls.append("on_booted")

    def on_shutdown(self) -> None:
        self.calls.append("on_shutdown")

    def on_unwatched(self) -> None:
        self.calls.append("on_unwatched")

    def on_call_count(self, calls: int) -> None:
        self.calls.append(calls)

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        self.calls.append((endpoint, uri, is_reachable))

    def on_login(self, endpoint: str) -> None:
        self.calls.append(("login", endpoint))

    def on_failed_login(self, service: str) -> None:
        self.calls.append(("refused", service))

    def on_registration(self, client: str, is_registered: bool) -> None:
        self.calls.append((client, is_registered))

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        self.calls.append((loss, jitter_ms))

    def on_connected(self) -> None:
        self.calls.append("on_connected")

    def on_digit_started(self, channel: str, pbx_ms: int) -> None:
        self.calls.append(("down", channel, pbx_ms))

    def on_disconnected(self) -> None:
        self.calls.append("on_disconnected")

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        self.calls.append((channel, digit, held_ms, pbx_ms))


@asynccontextmanager
async def watching(port: int, secret: str = SECRET) -> AsyncIterator[RecordingListener]:
    """Monitor a port."""
    listener = RecordingListener()
    login = ("switchroom", secret)
    watch = AmiMonitor("pbx1", ("127.0.0.1", port), login, listener, listener, retry_delay_s=0.01)
    task = asyncio.get_running_loop().create_task(watch.run())
    try:
        yield listener
    finally:
        await cancel_all([task])
