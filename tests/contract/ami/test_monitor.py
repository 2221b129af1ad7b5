"""The manager monitor: reported events and failures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.harness.ami.fake_manager import FakeManager
from tests.harness.ami.monitoring import RecordingListener, watching
from tests.harness.ports import free_port
from tests.harness.until import until


@asynccontextmanager
async def watched() -> AsyncIterator[tuple[FakeManager, RecordingListener]]:
    """Monitor a fake manager, logged in."""
    async with FakeManager() as manager, watching(manager.port) as listener:
        await until(lambda: 7 in listener.calls, what="the first look")
        yield manager, listener


async def test_a_look_tells_how_things_are() -> None:
    """A query reports unreachable contacts and the node's number of calls."""
    async with watched() as (manager, listener):
        assert listener.calls == ["on_connected", ("trunk", "sip:a", False), 7]
        assert manager.actions == ["Login", "PJSIPShowContacts", "CoreStatus"]


async def test_events_are_reported() -> None:
    """The listener gets health events of the node, its contacts and its legs, and no others."""
    contact = ("Event: ContactStatus", "EndpointName: trunk", "URI: sip:a")
    report = ("Event: RTCPSent", "Report0FractionLost: 64")
    async with watched() as (manager, listener):
        before = len(listener.calls)
        manager.send_event("Event: FullyBooted", "Status: Fully Booted")
        manager.send_event(*contact, "ContactStatus: Reachable")
        manager.send_event(*contact, "ContactStatus: Removed")
        manager.send_event("Event: Registry", "Username: sip:me@carrier", "Status: Rejected")
        manager.send_event("Event: Newchannel", "Channel: x")
        manager.send_event("Event: RTCPReceived", "ReportCount: 0")
        manager.send_event(*report, "Report0IAJitter: 160")
        manager.send_event("Event: Shutdown", "Shutdown: Cleanly")
        await until(lambda: "on_shutdown" in listener.calls)
        assert listener.calls[before : before + 6] == [
            "on_booted",
            ("trunk", "sip:a", True),
            ("trunk", "sip:a", None),
            ("sip:me@carrier", False),
            (0.25, 20.0),
            "on_shutdown",
        ]


async def test_a_phone_that_returns_is_qualified() -> None:
    """One that logs in with an unreachable contact, and no other."""
    contact = ("Event: ContactStatus", "EndpointName: 1002", "URI: sip:b")
    login = ("Event: SuccessfulAuth", "Service: PJSIP", "AccountID: 1002")
    async with watched() as (manager, listener):
        manager.send_event(*login)
        manager.send_event(*contact, "ContactStatus: Unreachable")
        manager.send_event(*contact, "ContactStatus: Reachable")
        manager.send_event(*login)
        manager.send_event(*contact, "ContactStatus: Unreachable")
        manager.send_event("Event: SuccessfulAuth", "Service: AMI", "AccountID: 1002")
        await until(lambda: listener.calls.count(("1002", "sip:b", False)) == 2)
        assert manager.qualified == []
        manager.send_event(*login)
        await until(lambda: manager.qualified == ["1002"])


async def test_a_phone_that_was_unreachable_before_is_qualified() -> None:
    """An engine that has just started knows it from the list of contacts."""
    async with watched() as (manager, _):
        manager.send_event("Event: SuccessfulAuth", "Service: PJSIP", "AccountID: trunk")
        await until(lambda: manager.qualified == ["trunk"])


async def test_digits_are_reported() -> None:
    """A digit from a phone is reported at its start and at its end; digits to phones are not."""
    key = ("Uniqueid: pbx1-1.7", "Digit: 5", "Direction: Received")
    async with watched() as (manager, listener):
        before = len(listener.calls)
        manager.send_event("Event: DTMFBegin", *key, "Timestamp: 1795237200.000100")
        manager.send_event("Event: DTMFEnd", *key, "Timestamp: 1795237200.123987", "DurationMs: 80")
        manager.send_event("Event: DTMFEnd", *key, "DurationMs: 80")
        manager.send_event("Event: DTMFEnd", *key[:2], "Direction: Sent", "Timestamp: 1.0")
        manager.send_event("Event: Shutdown", "Shutdown: Cleanly")
        await until(lambda: "on_shutdown" in listener.calls)
        expected = [
            ("down", "pbx1-1.7", 1_795_237_200_000),
            ("pbx1-1.7", "5", 80, 1_795_237_200_124),
            "on_shutdown",
        ]
        assert listener.calls[before : before + 3] == expected


async def test_refused_logins_are_counted() -> None:
    """By their service, whatever else they contain: who guesses chooses it."""
    names = ("ChallengeResponseFailed", "InvalidAccountID", "FailedACL", "InvalidPassword")
    async with watched() as (manager, listener):
        for name in names:
            event = f"Event: {name}\r\nService: PJSIP\r\nAccountID: ".encode()
            manager.send((event + b"\xff: \x00\r\n\r\n") * 1_000)
        manager.send_event("Event: InvalidPassword", "Service: AMI", "AccountID: Service: PJSIP")
        await until(lambda: ("refused", "ami") in listener.calls)
        assert listener.calls.count(("refused", "sip")) == 1_000 * len(names)
        assert listener.calls.count(("refused", "ami")) == 1


async def test_a_split_event_is_reported() -> None:
    """TCP may split the stream anywhere."""
    event = "Event: DTMFBegin\r\nUniqueid: x.1\r\nDirection: Received\r\nTimestamp: 1.0\r\n\r\n"
    async with watched() as (manager, listener):
        for each in event:
            manager.send(each.encode())
            await asyncio.sleep(0)
        await until(lambda: ("down", "x.1", 1_000) in listener.calls)


async def test_it_comes_back() -> None:
    """The health is unknown when the connection ends; the monitor reconnects and reloads it."""
    async with watched() as (manager, listener):
        manager.hang_up()
        await until(lambda: listener.calls.count(7) == 2, what="the second look")
        assert {"on_unwatched", "on_disconnected"} <= set(listener.calls)
        assert manager.logins == 2


async def test_a_wrong_password_is_not_tried_again_and_again() -> None:
    """The retry delay is long: a manager may ban repeated failures."""
    async with FakeManager() as manager, watching(manager.port, "wrong") as listener:
        await until(lambda: listener.calls == ["on_unwatched", "on_disconnected"])
        assert (manager.logins, manager.actions) == (1, ["Login"])


async def test_nobody_there_is_no_fault() -> None:
    """A node without this interface is retried quietly."""
    async with watching(free_port()) as listener:
        await until(lambda: listener.calls.count("on_unwatched") > 2)
