"""An app's events: order, reconnection, loss and takeover."""

from collections.abc import Callable

from msgspec.structs import replace

from engine.ari.client import HttpTransport
from engine.ari.config import PbxConnection
from engine.ari.events import EventSocket, UnknownEvent
from engine.ari.generated.events import ApplicationRegistered, Message
from engine.ari.reconnecting_websocket import always_allowed
from tests.harness.ari.fake_pbx import fake_pbx, running
from tests.harness.until import until


class RecordingListener:
    """A listener that records its calls."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.silences_ms: list[int] = []

    def on_connected(self) -> None:
        self.calls.append("connected")

    def on_event(self, event: Message | UnknownEvent) -> None:
        kind = event.type if isinstance(event, UnknownEvent) else type(event).__name__
        self.calls.append(kind)

    def on_disconnected(self, reason: str, silent_ms: int) -> None:
        self.calls.append(f"disconnected: {reason}")
        self.silences_ms.append(silent_ms)

    def on_replaced(self) -> None:
        self.calls.append("replaced")

    def kinds(self) -> list[str]:
        """Return the calls without reasons."""
        return [call.split(":")[0] for call in self.calls]


def _socket(
    pbx: PbxConnection, listener: RecordingListener, is_allowed: Callable[[], bool] = always_allowed
) -> EventSocket:
    return EventSocket(
        pbx, "app", listener, HttpTransport(pbx), unused_events=("Dial",), is_allowed=is_allowed
    )


async def test_connected_after_the_filter_and_before_the_events() -> None:
    """The filter is set first, then the listener is called, then events arrive in order."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, listener).run()):
        await until(lambda: listener.calls == ["connected"])
        assert fake.http[0] == (
            "PUT",
            "/ari/applications/app/eventFilter",
            {"disallowed": [{"type": "Dial"}]},
        )
        for kind in ("ApplicationRegistered", "Novelty", "ApplicationUnregistered"):
            await fake.send_event("app", type=kind)
        await until(lambda: len(listener.calls) == 4)
        assert listener.calls[1:] == [
            ApplicationRegistered.__name__,
            "Novelty",
            "ApplicationUnregistered",
        ]


async def test_events_before_the_probe_are_not_lost() -> None:
    """Events that arrive before the probe's event are dispatched after `on_connected`, in order."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx):
        another = {"type": "ChannelUserevent", "eventname": "x", "userevent": {}}
        fake.before_probe = [{"type": "Novelty"}, another]
        async with running(_socket(pbx, listener).run()):
            await until(lambda: len(listener.calls) == 3)
            assert listener.calls == ["connected", "Novelty", "ChannelUserevent"]


async def test_a_websocket_without_events_is_replaced() -> None:
    """A websocket that is open but receives no events is closed and opened again."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx):
        fake.subscribes_apps = False
        async with running(_socket(pbx, listener).run()):
            await until(lambda: len(fake.sockets.get("app", ())) == 3)
            assert listener.calls == [
                "disconnected: TimeoutError websocket open, but no events arrive"
            ]
            fake.subscribes_apps = True
            await until(lambda: listener.kinds() == ["disconnected", "connected"])
            assert all(each.closed for each in fake.sockets["app"][:-1])


async def test_an_app_taken_before_the_probe() -> None:
    """A listener that loses its app during the probe is notified, and does not reconnect."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx):
        fake.before_probe = [{"type": "ApplicationReplaced"}]
        async with running(_socket(pbx, listener).run()) as task:
            await until(task.done)
            assert listener.calls == ["connected", "replaced"]


async def test_a_broken_event_is_skipped() -> None:
    """An event that cannot be decoded affects no other."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, listener).run()):
        await until(lambda: listener.calls == ["connected"])
        await fake.send_event("app", type="StasisStart", channel="not a channel")
        await fake.sockets["app"][-1].send_str("not JSON")
        await fake.send_event("app", type="ApplicationRegistered")
        await until(lambda: listener.calls == ["connected", "ApplicationRegistered"])


async def test_an_outage_is_reported_once() -> None:
    """However many attempts fail, the listener gets one disconnect, then one connect."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, listener).run()):
        await until(lambda: listener.calls == ["connected"])
        fake.handshake_status = 503
        fake.drop("app")
        await until(lambda: listener.kinds() == ["connected", "disconnected"])
        assert len(fake.sockets["app"]) == 1
        fake.handshake_status = 101
        await until(lambda: listener.kinds() == ["connected", "disconnected", "connected"])
        assert len(fake.sockets["app"]) == 2


async def test_a_pbx_that_stands_still_was_silent_before() -> None:
    """Nothing had come for as long as a ping and its answer may take; a closed one was not."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx):
        fake.answers_pings = False
        quick = replace(pbx, timeouts=replace(pbx.timeouts, heartbeat_s=0.4))
        async with running(_socket(quick, listener).run()):
            await until(lambda: listener.kinds()[:2] == ["connected", "disconnected"])
            assert listener.silences_ms == [600]
            fake.answers_pings = True
            await until(lambda: listener.kinds()[2:] == ["connected"])
            fake.drop("app")
            await until(lambda: len(listener.silences_ms) > 1)
            assert listener.silences_ms[1] == 0


async def test_a_wrong_password_is_named() -> None:
    """The reason names the problem for an operator, and attempts continue."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx):
        fake.handshake_status = 401
        async with running(_socket(pbx, listener).run()):
            await until(lambda: listener.calls == ["disconnected: user or password refused (401)"])
            fake.handshake_status = 101
            await until(lambda: listener.kinds() == ["disconnected", "connected"])


async def test_a_hanging_handshake_times_out() -> None:
    """Asterisk may accept and never respond: the attempt fails and another follows."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx):
        fake.hold.clear()
        async with running(_socket(pbx, listener).run()):
            await until(lambda: listener.calls == ["disconnected: TimeoutError"])
            fake.hold.set()
            await until(lambda: listener.kinds() == ["disconnected", "connected"])


async def test_a_replaced_session_ends() -> None:
    """When another websocket takes the app, this one closes and does not reconnect."""
    listener = RecordingListener()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, listener).run()) as task:
        await until(lambda: listener.calls == ["connected"])
        await fake.send_event("app", type="ApplicationReplaced")
        await until(task.done)
        assert task.exception() is None
        assert listener.calls == ["connected", "replaced"]
        await until(lambda: fake.sockets["app"][-1].closed)


async def test_no_connection_unless_allowed() -> None:
    """An app that another engine may own is not taken back; once allowed, it is."""
    listener, checks = RecordingListener(), list[bool]()
    allowed = {"now": True}

    def is_allowed() -> bool:
        checks.append(allowed["now"])
        return allowed["now"]

    async with fake_pbx() as (fake, pbx), running(_socket(pbx, listener, is_allowed).run()):
        await until(lambda: listener.calls == ["connected"])
        allowed["now"] = False
        fake.drop("app")
        await until(lambda: checks.count(False) > 3)
        assert listener.kinds() == ["connected", "disconnected"]
        allowed["now"] = True
        await until(lambda: listener.kinds() == ["connected", "disconnected", "connected"])
