"""Listening to a PBX's manager interface: what is told of the node, and what becomes of trouble."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from engine.ami.monitor import AmiMonitor
from tests.contract.ami.fake_manager import SECRET, FakeManager
from tests.harness.ports import free_port
from tests.harness.until import until


class Heard:
    """Keeps what is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def on_booted(self) -> None:
        """Keep it."""
        self.told.append("booted")

    def on_shutdown(self) -> None:
        """Keep it."""
        self.told.append("leaves")

    def on_unwatched(self) -> None:
        """Keep it."""
        self.told.append("unwatched")

    def on_call_count(self, calls: int) -> None:
        """Keep it."""
        self.told.append(calls)

    def on_contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Keep it."""
        self.told.append((endpoint, uri, is_reachable))

    def on_registration(self, client: str, is_registered: bool) -> None:
        """Keep it."""
        self.told.append((client, is_registered))

    def on_rtp_report(self, loss: float, jitter_ms: float) -> None:
        """Keep it."""
        self.told.append((loss, jitter_ms))

    def on_digit(self, channel: str, digit: str, held_ms: int, pbx_ms: int) -> None:
        """Keep it."""
        self.told.append((channel, digit, held_ms, pbx_ms))


@contextmanager
def watching(port: int, secret: str = SECRET) -> Iterator[Heard]:
    """Watch a port."""
    heard = Heard()
    login = ("switchroom", secret)
    watch = AmiMonitor("pbx1", ("127.0.0.1", port), login, heard, heard, retry_delay_s=0.01)
    task = asyncio.get_running_loop().create_task(watch.run())
    try:
        yield heard
    finally:
        task.cancel()


@asynccontextmanager
async def watched() -> AsyncIterator[tuple[FakeManager, Heard]]:
    """Watch a manager, logged in."""
    async with FakeManager() as manager:
        with watching(manager.port) as heard:
            await until(lambda: 7 in heard.told, what="the first look")
            yield manager, heard


async def test_a_look_tells_how_things_are() -> None:
    """Contacts that can't be reached, and how many calls the node counts."""
    async with watched() as (manager, heard):
        assert heard.told == [("trunk", "sip:a", False), 7]
        assert manager.actions == ["Login", "PJSIPShowContacts", "CoreStatus"]


async def test_events_are_told() -> None:
    """What a node says of itself, of its contacts and of its lines; nothing else."""
    contact = ("Event: ContactStatus", "EndpointName: trunk", "URI: sip:a")
    report = ("Event: RTCPSent", "Report0FractionLost: 64")
    async with watched() as (manager, heard):
        before = len(heard.told)
        manager.tell("Event: FullyBooted", "Status: Fully Booted")
        manager.tell(*contact, "ContactStatus: Reachable")
        manager.tell(*contact, "ContactStatus: Removed")
        manager.tell("Event: Registry", "Username: sip:me@carrier", "Status: Rejected")
        manager.tell("Event: Newchannel", "Channel: x")
        manager.tell("Event: RTCPReceived", "ReportCount: 0")
        manager.tell(*report, "Report0IAJitter: 160")
        manager.tell("Event: Shutdown", "Shutdown: Cleanly")
        await until(lambda: "leaves" in heard.told)
        assert heard.told[before : before + 6] == [
            "booted",
            ("trunk", "sip:a", True),
            ("trunk", "sip:a", None),
            ("sip:me@carrier", False),
            (0.25, 20.0),
            "leaves",
        ]


async def test_keys_are_told() -> None:
    """Those that phones send, each once, at its end; not those that are sent to phones."""
    key = ("Uniqueid: pbx1-1.7", "Digit: 5", "Direction: Received")
    async with watched() as (manager, heard):
        before = len(heard.told)
        manager.tell("Event: DTMFBegin", *key, "Timestamp: 1795237200.000100")
        manager.tell("Event: DTMFEnd", *key, "Timestamp: 1795237200.123987", "DurationMs: 80")
        manager.tell("Event: DTMFEnd", *key, "DurationMs: 80")
        manager.tell("Event: DTMFEnd", *key[:2], "Direction: Sent", "Timestamp: 1.0")
        manager.tell("Event: Shutdown", "Shutdown: Cleanly")
        await until(lambda: "leaves" in heard.told)
        told = [("pbx1-1.7", "5", 80, 1_795_237_200_124), "leaves"]
        assert heard.told[before : before + 2] == told


async def test_it_comes_back() -> None:
    """What was known is old when the connection ends; it logs in and looks again."""
    async with watched() as (manager, heard):
        manager.hang_up()
        await until(lambda: heard.told.count(7) == 2, what="the second look")
        assert "unwatched" in heard.told
        assert manager.logins == 2


async def test_a_wrong_password_is_not_tried_again_and_again() -> None:
    """It waits long: a manager may shut out who guesses."""
    async with FakeManager() as manager:
        with watching(manager.port, "wrong") as heard:
            await until(lambda: heard.told == ["unwatched"])
            assert (manager.logins, manager.actions) == (1, ["Login"])


async def test_nobody_there_is_no_fault() -> None:
    """A node without this interface is tried in peace."""
    with watching(free_port()) as heard:
        await until(lambda: heard.told.count("unwatched") > 2)
