"""The objects of SimAsterisk: channels, playbacks and bridges, and what was audible on them."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.ari.generated.models import Bridge, CallerID, Channel, DialplanCEP, Playback
from tests.harness.sim.clock import SimTimer

State = Literal["Down", "Ring", "Ringing", "Up"]
_NO_CALLER = CallerID(name="", number="")
_NOT_IN_STASIS = DialplanCEP(
    context="", exten="", priority=1, app_name="AppDial2", app_data="(Outgoing Line)"
)
WEBSOCKET = "WebSocket"  # the endpoint of a stream's channel


class SimSpan:
    """An interval in which a sound was audible on a channel, or the channel was in a bridge."""

    __slots__ = ("begin_ms", "end_ms", "kind", "what")

    def __init__(self, kind: str, what: str, begin_ms: float) -> None:
        self.kind = (
            kind  # ring, moh, play, bridge, mute in, mute out, refer, transfer or phone hold
        )
        self.what = what
        self.begin_ms = begin_ms
        self.end_ms: float | None = None

    def __repr__(self) -> str:
        return f"{self.kind} {self.what} {self.begin_ms:.0f}-{self.end_ms or 0:.0f}"


class SimPlayback:
    """One playback in a channel's queue; times in ms."""

    __slots__ = (
        "channel",
        "due_ms",
        "ended_ms",
        "id",
        "left_ms",
        "length_ms",
        "missing",
        "paused_ms",
        "pauses",
        "requested_ms",
        "span",
        "stopped",
        "timer",
    )

    def __init__(
        self, playback_id: str, channel: "SimChannel", length_ms: int | None, requested_ms: float
    ) -> None:
        self.id = playback_id
        self.channel = channel
        self.missing = length_ms is None
        self.length_ms = length_ms or 0
        self.requested_ms = requested_ms
        self.span: SimSpan | None = None
        self.ended_ms: float | None = None
        self.stopped = False
        self.timer: SimTimer | None = None
        self.due_ms = 0.0  # when it ends, while it is heard
        self.left_ms = float(self.length_ms)  # what is not heard yet, while it is paused
        self.paused_ms: float | None = None  # since when
        self.pauses: list[tuple[float, float]] = []  # all that are over

    def pause(self, now_ms: float) -> None:
        """Stop where it is."""
        self.paused_ms, self.left_ms = now_ms, max(0.0, self.due_ms - now_ms)

    def unpause(self, now_ms: float) -> None:
        """Note the end of a pause, if there is one."""
        if self.paused_ms is not None:
            self.pauses.append((self.paused_ms, now_ms))
            self.paused_ms = None

    @property
    def heard_ms(self) -> float:
        """How much of it was heard, once it has ended."""
        if self.span is None or self.ended_ms is None:
            return 0.0
        paused_ms = sum(end - begin for begin, end in self.pauses)
        return self.ended_ms - self.span.begin_ms - paused_ms

    def end(self, now_ms: float) -> None:
        self.unpause(now_ms)
        self.ended_ms = now_ms

    def shape(self, state: Literal["done", "failed"]) -> Playback:
        """Return the ARI model."""
        return Playback(
            id=self.id, media_uri="sound:x", target_uri=f"channel:{self.channel.id}", state=state
        )


class LocalHalf(Struct, frozen=True):
    """One half of a Local channel: the id of the other, and the arguments of its Stasis()."""

    other: str
    arguments: str = ""


class SimChannel:
    """One outbound or inbound channel."""

    __slots__ = (
        "app",
        "blocked",
        "born_ms",
        "bridge",
        "caller",
        "cause",
        "dialplan",
        "ended_ms",
        "endpoint",
        "id",
        "is_dialled",
        "is_inbound",
        "local",
        "open",
        "playing",
        "presses",
        "shown",
        "snooped",
        "spans",
        "state",
        "up_ms",
        "variables",
    )

    def __init__(self, channel_id: str, endpoint: str, app: str, born_ms: float) -> None:
        self.id = channel_id
        self.endpoint = endpoint
        self.app = app
        self.is_inbound = False
        self.is_dialled = False
        self.local: LocalHalf | None = None
        self.variables: set[str] = set()  # names of the variables that were set
        self.state: State = "Down"
        self.caller = _NO_CALLER
        self.dialplan = _NOT_IN_STASIS
        self.bridge: SimBridge | None = None
        self.snooped: SimChannel | None = None  # the channel that it snoops on and whispers to
        self.playing: deque[SimPlayback] = deque()
        self.blocked: list[Callable[[], None]] = []  # requests blocked until the playback ends
        self.open: dict[str, SimSpan] = {}  # by kind: the open spans
        self.spans: list[SimSpan] = []
        self.presses: list[tuple[str, float, float]] = []  # digit, down, up
        self.born_ms = born_ms
        self.up_ms: float | None = None
        self.ended_ms: float | None = None
        self.cause = 0
        self.shown: Channel | None = None  # its last ARI model

    def enter(self, *args: str) -> None:
        """Enter the Stasis app."""
        data = ",".join((self.app, *args))
        self.dialplan = DialplanCEP(
            context="from-trunk", exten="s", priority=1, app_name="Stasis", app_data=data
        )

    @property
    def in_stasis(self) -> bool:
        """Return whether the channel is in the Stasis app."""
        return self.dialplan is not _NOT_IN_STASIS

    @property
    def has_music(self) -> bool:
        """Return whether music or ringing is audible."""
        return "ring" in self.open or "moh" in self.open

    def begin(self, kind: str, what: str, now_ms: float) -> SimSpan:
        """Start a span of a kind, unless one is open."""
        if kind not in self.open:
            self.open[kind] = span = SimSpan(kind, what, now_ms)
            self.spans.append(span)
        return self.open[kind]

    def end(self, kind: str, now_ms: float) -> None:
        """End the open span of a kind."""
        if span := self.open.pop(kind, None):
            span.end_ms = now_ms

    def shape(self) -> Channel:
        """Return the ARI model; only its state and its place in the dialplan change."""
        shown = self.shown
        if shown is None:
            self.shown = shown = Channel(
                id=self.id,
                protocol_id="",
                name=self.endpoint,
                state=self.state,
                caller=self.caller,
                connected=_NO_CALLER,
                accountcode="",
                dialplan=self.dialplan,
                creationtime=datetime.fromtimestamp(self.born_ms / 1000, UTC).isoformat(),
                language="en",
            )
        elif shown.state != self.state or shown.dialplan is not self.dialplan:
            self.shown = shown = replace(shown, state=self.state, dialplan=self.dialplan)
        return shown


class SimBridge:
    """A mixing bridge and its members."""

    __slots__ = ("born_ms", "ended_ms", "id", "members")

    def __init__(self, bridge_id: str, born_ms: float) -> None:
        self.id = bridge_id
        self.born_ms = born_ms
        self.ended_ms: float | None = None
        self.members: list[SimChannel] = []

    def shape(self) -> Bridge:
        """Return the ARI model."""
        return Bridge(
            id=self.id,
            technology="simple_bridge",
            bridge_type="mixing",
            bridge_class="stasis",
            creator="Stasis",
            name="",
            channels=[each.id for each in self.members],
            creationtime="",
        )
