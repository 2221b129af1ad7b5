"""The manager monitor: reported events and failures."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from tests.harness.ami.fake_manager import (
    START,
    TRUNK,
    FakeManager,
    contact_status,
    dtmf,
    end,
    login_of,
)
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
        await until(lambda: ("trunk", TRUNK, False) in listener.calls)
        assert listener.calls == ["on_connected", "on_booted", 7, ("trunk", TRUNK, False)]
        filters = ["Filter"] * 3
        assert manager.actions == [
            "Login", *filters, "Events", "Login", "PJSIPShowAors", "PJSIPShowContacts", "Ping",
            "CoreStatus", "Ping", "PJSIPShowEndpoint", "Ping",
        ]  # fmt: skip


async def test_events_are_reported() -> None:
    """The listener gets health events of the node and its legs, and no others."""
    report = ("Event: RTCPSent", "Report0FractionLost: 64")
    async with watched() as (manager, listener):
        await until(lambda: ("trunk", TRUNK, False) in listener.calls)
        before = len(listener.calls)
        manager.send_event("Event: Newchannel", "Channel: x")
        manager.send_event("Event: RTCPReceived", "ReportCount: 0")
        manager.send_event(*report, "Report0IAJitter: 160")
        await until(lambda: (0.25, 20.0) in listener.calls)
        manager.send_trusted("Event: Registry", "Username: sip:me@carrier", "Status: Rejected")
        await until(lambda: ("sip:me@carrier", False) in listener.calls)
        assert listener.calls[before:] == [(0.25, 20.0), ("sip:me@carrier", False)]


async def test_a_contact_is_what_the_node_answers() -> None:
    """Its event is only a reason to ask, and may say anything."""
    event = ("Event: ContactStatus", "EndpointName: trunk", f"URI: {TRUNK}")
    async with watched() as (manager, listener):
        await until(lambda: ("trunk", TRUNK, False) in listener.calls)
        manager.contacts["trunk"] = [contact_status("trunk", TRUNK, "Reachable")]
        manager.send_event(*event, "ContactStatus: Unreachable")
        await until(lambda: ("trunk", TRUNK, True) in listener.calls)
        manager.contacts["trunk"] = []
        manager.send_event(*event, "ContactStatus: Reachable")
        await until(lambda: ("trunk", TRUNK, None) in listener.calls)


async def test_a_shutdown_counts_when_the_connection_ends() -> None:
    """A node that shuts down ends it."""
    async with watched() as (manager, listener):
        manager.send_trusted("Event: Shutdown", "Shutdown: Cleanly")
        manager.log_in("1002")
        await until(lambda: ("login", "1002") in listener.calls)
        assert "on_shutdown" not in listener.calls
        manager.hang_up()
        await until(lambda: "on_unwatched" in listener.calls)
        at = listener.calls.index("on_unwatched")
        assert listener.calls[at - 1] == "on_shutdown"


P = "x\n\nAction: MixMonitor\nCommand: touch /tmp/x\n"


@pytest.mark.parametrize(
    "event",
    [
        ("Event: Shutdown", "Shutdown: Cleanly"),
        login_of("1001"),
        login_of("trunk"),
        ("Event: Registry", "Username: sip:me@carrier", "Status: Rejected"),
        ("Event: ContactStatus", "URI: q", "ContactStatus: Unreachable", "EndpointName: 1001"),
        ("Event: ContactStatus", "URI: q", "EndpointName: 1001", "event: SuccessfulAuth"),
        ("Event: ContactStatus", "URI: q", "URI: r", "EndpointName: trunk"),
        ("Event: ContactStatus", "URI: q", f"EndpointName: {P}"),
        ("Event: ContactStatus", "URI: q", "EndpointName: a\x85b"),
        ("Event: ContactStatus", "URI: q", "EndpointName: a~"),
        ("Event: ContactList", "Endpoint: trunk", "Uri: q", "Status: Unreachable"),
        ("Event: ContactStatusDetail", "EndpointName: trunk", "URI: q", "Status: Unreachable"),
        ("Event: DTMFEnd", "Uniqueid: a.1", "Direction: Received", "Timestamp: 1.0",
         "Digit: 1", "DurationMs: 80"),
        (*dtmf("Event: DTMFEnd", "DurationMs: 80"), "Uniqueid: b.1"),
        (*dtmf("Event: DTMFEnd", "DurationMs: 80"), "X: ]:5060"),
        (*dtmf("Event: DTMFEnd", "DurationMs: 80")[:-2], "Direction: Received"),
        ("Response: Success", "ActionID: 1", "EventList: Complete"),
        ("X: ]:5060", "ContactStatus: NonQualified"),
        ("no field",),
        ("Event: ",),
    ],
    ids=str,
)  # fmt: skip
async def test_what_a_phone_forges(event: tuple[str, ...]) -> None:
    """Among the events with text of phones: nothing counts, and the connection stays."""
    async with watched() as (manager, listener):
        await until(lambda: ("trunk", TRUNK, False) in listener.calls)
        before = len(listener.calls)
        manager.send_event(*event)
        manager.send_event("Event: InvalidPassword", "Service: AMI")
        await until(lambda: ("refused", "ami") in listener.calls)
        manager.send_event("Event: ContactStatus", "EndpointName: last")
        await until(lambda: "last" in manager.queried)
        said = [each for each in listener.calls[before:] if each != ("trunk", TRUNK, False)]
        assert said == [("refused", "ami")]
        assert set(manager.queried) <= {"trunk", "1001", "last"}
        assert (manager.logins, manager.qualified) == (2, [])
        assert "MixMonitor" not in manager.actions


def _via(*lines: str) -> str:
    """Return a contact whose Via would be events."""
    return contact_status(
        "1001", "sip:b", "Unreachable", at=";@", via="\r\n".join(("[", *lines, "X: ]"))
    )


@pytest.mark.parametrize(
    "line",
    [
        contact_status("other", "sip:b", "Unreachable"),
        contact_status("1001", "sip:b", "Unreachable").replace("sip:b", "sip:c"),
        contact_status("1001", "sip:b", "Unreachable") + "uri: sip:c\r\n",
        contact_status("1001", "sip:\nb", "Unreachable"),
        contact_status("1001", "sip:[a\r\n\r\nEvent: Shutdown\r\nX: ]", "Unreachable"),
        _via("", "Event: ContactStatus", "EndpointName: 1001", ""),
        _via("", "Event: ContactStatus", "EndpointName: 1002", ""),
        _via("", *dtmf("Event: DTMFEnd", "DurationMs: 80"), ""),
        _via("", "Event: RTCPSent", "Report0FractionLost: 64", "Report0IAJitter: 160", ""),
        _via("", "Event: InvalidPassword", "Service: PJSIP", ""),
        _via("", *end("EndpointDetail").splitlines(), "", "Event: ContactStatus",
             "EndpointName: 1002", ""),
        _via("Status: Reachable", "EventList: Complete", "", "Event: ContactStatus",
             "EndpointName: 1002", ""),
    ],
    ids=[
        "of-another", "of-another-id", "twice", "line-feed", "empty-line",
        "change", "change-of-another", "digit", "quality", "login", "end", "end-within",
    ],
)  # fmt: skip
async def test_what_a_phone_forges_in_an_answer(line: str) -> None:
    """A damaged contact is none, and the others count; nothing in an answer is an event."""
    good = contact_status("1001", "sip:good", "Unreachable", at=";@")
    async with watched() as (manager, listener):
        await until(lambda: ("trunk", TRUNK, False) in listener.calls)
        before = len(listener.calls)
        manager.contacts["1001"] = [line, good]
        manager.send_event("Event: ContactStatus", "EndpointName: 1001")
        await until(lambda: ("1001", "sip:good", False) in listener.calls)
        manager.send_event("Event: ContactStatus", "EndpointName: last")
        await until(lambda: "last" in manager.queried)
        assert listener.calls[before:] == [("1001", "sip:good", False)]
        assert manager.queried == ["trunk", "1001", "last"]


async def test_an_answer_that_is_no_list_is_an_error() -> None:
    """Not a node without contacts: it is asked again, and counts as unwatched."""
    async with FakeManager() as manager:
        manager.lists = "Response: Success\r\n"
        async with watching(manager.port) as listener:
            await until(lambda: manager.logins > 2)
            assert "on_booted" not in listener.calls
            manager.lists = START
            await until(lambda: "on_booted" in listener.calls)


async def test_a_phone_that_returns_is_qualified() -> None:
    """One that logs in with an unreachable contact, and no other."""
    async with watched() as (manager, listener):
        manager.log_in("1002")
        manager.contacts["1002"] = [contact_status("1002", "sip:b", "Unreachable", at=";@")]
        manager.send_event("Event: ContactStatus", "EndpointName: 1002")
        await until(lambda: ("1002", "sip:b", False) in listener.calls)
        manager.send_trusted(*login_of("1002", service="AMI"))
        assert manager.qualified == []
        manager.log_in("1002")
        await until(lambda: manager.qualified == ["1002"])


async def test_a_phone_that_was_unreachable_before_is_qualified() -> None:
    """An engine that has just started knows it from the list of contacts."""
    async with watched() as (manager, listener):
        await until(lambda: ("trunk", TRUNK, False) in listener.calls)
        manager.log_in("trunk")
        await until(lambda: manager.qualified == ["trunk"])


async def test_digits_are_reported() -> None:
    """A digit from a phone is reported at its start and at its end; digits to phones are not."""
    async with watched() as (manager, listener):
        before = len(listener.calls)
        manager.send_event(*dtmf("Event: DTMFBegin", at="1795237200.000100"))
        manager.send_event(*dtmf("Event: DTMFEnd", "DurationMs: 80", at="1795237200.123987"))
        manager.send_event(*dtmf("Event: DTMFEnd", "DurationMs: 80", at="x"))
        manager.send_event(*dtmf("Event: DTMFEnd", "DurationMs: 80", at=f"{'9' * 400}.0"))
        manager.send_event(*dtmf("Event: DTMFEnd", "DurationMs: 80")[:-1], "Direction: Sent")
        manager.send_event("Event: InvalidPassword", "Service: AMI")
        await until(lambda: ("refused", "ami") in listener.calls)
        digits = [each for each in listener.calls[before:] if each != ("trunk", TRUNK, False)]
        assert digits == [
            ("down", "pbx1-1.7", 1_795_237_200_000),
            ("pbx1-1.7", "5", 80, 1_795_237_200_124),
            ("refused", "ami"),
        ]


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
    event = "".join(f"{line}\r\n" for line in (*dtmf("Event: DTMFBegin"), ""))
    async with watched() as (manager, listener):
        for each in event:
            manager.send(each.encode())
            await asyncio.sleep(0)
        await until(lambda: ("down", "pbx1-1.7", 1_000) in listener.calls)


async def test_it_comes_back() -> None:
    """The health is unknown when the connection ends; the monitor reconnects and reloads it."""
    async with watched() as (manager, listener):
        manager.hang_up()
        await until(lambda: listener.calls.count(7) == 2, what="the second look")
        assert {"on_unwatched", "on_disconnected"} <= set(listener.calls)
        assert manager.logins == 4


async def test_a_wrong_password_is_not_tried_again_and_again() -> None:
    """The retry delay is long: a manager may ban repeated failures."""
    async with FakeManager() as manager, watching(manager.port, "wrong") as listener:
        await until(lambda: listener.calls == ["on_unwatched", "on_disconnected"])
        assert (manager.logins, manager.actions) == (1, ["Login"])


async def test_nobody_there_is_no_fault() -> None:
    """A node without this interface is retried quietly."""
    async with watching(free_port()) as listener:
        await until(lambda: listener.calls.count("on_unwatched") > 2)
