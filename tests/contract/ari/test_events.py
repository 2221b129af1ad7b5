"""An app's events: back, in order, lost once, taken over."""

from collections.abc import Callable

from engine.ari.config import PbxConnection
from engine.ari.decode import UnknownEvent
from engine.ari.events import EventSocket
from engine.ari.generated.events import ApplicationRegistered, Message
from engine.ari.http_transport import HttpTransport
from engine.ari.reconnecting_websocket import always_allowed
from tests.contract.ari.fake_pbx import fake_pbx, running
from tests.harness.until import until


class Diary:
    """A listener that writes down what it hears."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_connected(self) -> None:
        """Note it."""
        self.heard.append("back")

    def on_event(self, event: Message | UnknownEvent) -> None:
        """Note what kind it was."""
        kind = event.type if isinstance(event, UnknownEvent) else type(event).__name__
        self.heard.append(kind)

    def on_disconnected(self, reason: str) -> None:
        """Note it, with the reason after a colon."""
        self.heard.append(f"lost: {reason}")

    def on_replaced(self) -> None:
        """Note it."""
        self.heard.append("replaced")

    def words(self) -> list[str]:
        """Give the notes without the reasons."""
        return [note.split(":")[0] for note in self.heard]


def _socket(
    pbx: PbxConnection, diary: Diary, may: Callable[[], bool] = always_allowed
) -> EventSocket:
    return EventSocket(pbx, "app", diary, HttpTransport(pbx), unused_events=("Dial",), may=may)


async def test_back_comes_after_the_filter_and_before_the_events() -> None:
    """The filter is set first, then the listener is told, then events come in order."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, diary).run()):
        await until(lambda: diary.heard == ["back"])
        assert fake.http[0] == (
            "PUT",
            "/ari/applications/app/eventFilter",
            {"disallowed": [{"type": "Dial"}]},
        )
        for kind in ("ApplicationRegistered", "Novelty", "ApplicationUnregistered"):
            await fake.say("app", type=kind)
        await until(lambda: len(diary.heard) == 4)
        assert diary.heard[1:] == [
            ApplicationRegistered.__name__,
            "Novelty",
            "ApplicationUnregistered",
        ]


async def test_what_comes_before_the_proof_is_not_lost() -> None:
    """Events come before the proof that they do: they are told after `back`, in order."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx):
        another = {"type": "ChannelUserevent", "eventname": "x", "userevent": {}}
        fake.before_proof = [{"type": "Novelty"}, another]
        async with running(_socket(pbx, diary).run()):
            await until(lambda: len(diary.heard) == 3)
            assert diary.heard == ["back", "Novelty", "ChannelUserevent"]


async def test_a_deaf_websocket_is_given_up() -> None:
    """One that is open, and to which the app's events do not come, makes room for another."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx):
        fake.gives_apps = False
        async with running(_socket(pbx, diary).run()):
            await until(lambda: len(fake.sockets.get("app", ())) == 3)
            assert diary.heard == ["lost: TimeoutError it is open, and its events do not come"]
            fake.gives_apps = True
            await until(lambda: diary.words() == ["lost", "back"])
            assert all(each.closed for each in fake.sockets["app"][:-1])


async def test_an_app_may_be_taken_before_the_proof() -> None:
    """Who is replaced while it waits for the proof hears that, and stays away."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx):
        fake.before_proof = [{"type": "ApplicationReplaced"}]
        async with running(_socket(pbx, diary).run()) as task:
            await until(task.done)
            assert diary.heard == ["back", "replaced"]


async def test_a_broken_event_is_skipped() -> None:
    """One event that does not decode costs nothing but itself."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, diary).run()):
        await until(lambda: diary.heard == ["back"])
        await fake.say("app", type="StasisStart", channel="not a channel")
        await fake.sockets["app"][-1].send_str("not JSON")
        await fake.say("app", type="ApplicationRegistered")
        await until(lambda: diary.heard == ["back", "ApplicationRegistered"])


async def test_an_outage_is_told_once() -> None:
    """However many attempts fail, the listener hears one loss, and then that events are back."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, diary).run()):
        await until(lambda: diary.heard == ["back"])
        fake.handshake_status = 503
        fake.drop("app")
        await until(lambda: diary.words() == ["back", "lost"])
        assert len(fake.sockets["app"]) == 1
        fake.handshake_status = 101
        await until(lambda: diary.words() == ["back", "lost", "back"])
        assert len(fake.sockets["app"]) == 2


async def test_a_wrong_password_is_named() -> None:
    """The reason says what an operator must mend, and the session keeps trying."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx):
        fake.handshake_status = 401
        async with running(_socket(pbx, diary).run()):
            await until(lambda: diary.heard == ["lost: user or password refused (401)"])
            fake.handshake_status = 101
            await until(lambda: diary.words() == ["lost", "back"])


async def test_a_handshake_that_hangs_is_given_up() -> None:
    """Asterisk may accept and never answer: that is a loss, and another attempt follows."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx):
        fake.hold.clear()
        async with running(_socket(pbx, diary).run()):
            await until(lambda: diary.heard == ["lost: TimeoutError"])
            fake.hold.set()
            await until(lambda: diary.words() == ["lost", "back"])


async def test_a_replaced_session_ends() -> None:
    """When another websocket has the app, this one tells so, closes, and does not come back."""
    diary = Diary()
    async with fake_pbx() as (fake, pbx), running(_socket(pbx, diary).run()) as task:
        await until(lambda: diary.heard == ["back"])
        await fake.say("app", type="ApplicationReplaced")
        await until(task.done)
        assert task.exception() is None
        assert diary.heard == ["back", "replaced"]
        await until(lambda: fake.sockets["app"][-1].closed)


async def test_who_may_not_does_not_connect() -> None:
    """An app that may be another's by now is not taken back; when it may be, it is."""
    diary, asked = Diary(), list[bool]()
    mine = {"is": True}

    def may() -> bool:
        asked.append(mine["is"])
        return mine["is"]

    async with fake_pbx() as (fake, pbx), running(_socket(pbx, diary, may).run()):
        await until(lambda: diary.heard == ["back"])
        mine["is"] = False
        fake.drop("app")
        await until(lambda: asked.count(False) > 3)
        assert diary.words() == ["back", "lost"]
        mine["is"] = True
        await until(lambda: diary.words() == ["back", "lost", "back"])
