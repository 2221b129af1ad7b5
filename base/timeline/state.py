"""What a timeline has shown so far: lifelines, bridges, spans, states of sessions; pure."""

from dataclasses import dataclass, field

from msgspec import Struct

from base.timeline import wording
from wire.views import (
    Lifeline,
    LifelineKind,
    RowKind,
    SpanKind,
    TimelineFault,
    TimelineRow,
    TimelineSpan,
)

ENGINE = "engine"


class SentRequest(Struct, frozen=True):
    """A request to a server: the lifeline of the server, and the address, if it is known."""

    lifeline: str
    url: str


def arrow(  # noqa: PLR0913 - each is drawn
    text: str,
    source: str = ENGINE,
    target: str = ENGINE,
    kind: RowKind = "plain",
    *,
    joined: tuple[str, ...] = (),
    request: str = "",
    attempt: str = "",
    fault: TimelineFault | None = None,
) -> TimelineRow:
    """Return a row, whose time and spans follow."""
    return TimelineRow(
        0, source, target, text, kind, joined, request=request, attempt=attempt, fault=fault
    )


def mark(
    text: str, lifeline: str = ENGINE, kind: RowKind = "plain", fault: TimelineFault | None = None
) -> TimelineRow:
    """Return a mark on one lifeline."""
    return arrow(text, lifeline, lifeline, kind, fault=fault)


@dataclass(slots=True)
class TimelineState:
    """What earlier steps showed; `main` is the leg that the tree runs on."""

    caller: str
    main: str = ""
    call_state: str = ""
    gather_reason: str = ""  # why a gather ended at the present step
    timer: str = ""  # which timer has passed at the present step
    lifelines: dict[str, Lifeline] = field(
        default_factory=lambda: {ENGINE: Lifeline(ENGINE, "engine", ENGINE)}
    )
    rang: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    dialed: dict[str, str] = field(default_factory=dict)  # parties by leg
    hung_up: set[str] = field(default_factory=set)  # by the engine
    flow_requests: set[str] = field(default_factory=set)
    requests: dict[str, SentRequest] = field(default_factory=dict)
    bridges: dict[str, tuple[str, ...]] = field(default_factory=dict)  # legs by bridge
    snoops: dict[str, str] = field(default_factory=dict)  # snooped leg by snoop
    listeners: set[str] = field(default_factory=set)  # the snoops of forks
    streams: set[str] = field(default_factory=set)
    recognizers: dict[str, str] = field(default_factory=dict)  # names of recognizers by stream
    ready: set[str] = field(default_factory=set)  # recognizers' streams
    playbacks: dict[str, str] = field(default_factory=dict)  # their legs
    music: set[str] = field(default_factory=set)  # playbacks for legs on hold
    ended: set[str] = field(default_factory=set)
    places: dict[str, str] = field(default_factory=dict)  # lifelines by later streams
    free_places: dict[str, list[str]] = field(default_factory=dict)  # by label
    session_states: dict[str, str] = field(default_factory=dict)  # of sessions and members
    transfer_modes: dict[str, str] = field(default_factory=dict)  # of transfers
    known_faults: set[str] = field(default_factory=set)  # codes of faults
    open: set[tuple[str, SpanKind]] = field(default_factory=set)
    begun: list[TimelineSpan] = field(default_factory=list)  # since the latest row
    over: list[TimelineSpan] = field(default_factory=list)

    def lifeline(self, leg: str, label: str = "", kind: LifelineKind = "leg") -> str:
        """Return the lifeline of a leg; a stream has that of the one whose place it has taken."""
        place = self.places.get(leg, leg)
        known = self.lifelines.get(place)
        if known is None:
            lettered = sum(each.kind in {"leg", "stream"} for each in self.lifelines.values())
            self.lifelines[place] = Lifeline(place, kind, _short_name(lettered), label)
        elif label:
            self.lifelines[place] = Lifeline(place, known.kind, known.heading, label)
        return place

    def name(self, leg: str) -> str:
        """Return the letter of a leg; the first leg is A."""
        return self.lifelines[self.lifeline(leg)].heading

    def names(self, legs: tuple[str, ...]) -> str:
        """Return the letters of several legs: A, B and C."""
        *rest, last = sorted(map(self.name, legs), key=lambda each: (len(each), each))
        return f"{', '.join(rest)} and {last}" if rest else last

    def begin_leg(self, leg: str, label: str, text: str = "") -> None:
        """Let the lifeline of a leg begin."""
        self.lifeline(leg, label)
        self.begin(leg, "leg", text or label)

    def server(self, request: str, url: str, name: str = "") -> str:
        """Return the lifeline of the server that a request is sent to."""
        lifeline = self.server_lifeline(name or wording.host(url))
        self.requests[request] = SentRequest(lifeline, url)
        return lifeline

    def server_lifeline(self, label: str) -> str:
        """Return the lifeline of a server."""
        lifeline = f"web:{label}"
        self.lifelines.setdefault(lifeline, Lifeline(lifeline, "server", "server", label))
        return lifeline

    def begin_stream(self, stream: str, label: str) -> None:
        """Give a stream a lifeline: that of an ended one with the same label, if there is one."""
        self.streams.add(stream)
        if free := self.free_places.get(label):
            self.places[stream] = free.pop()
        self.lifeline(stream, label, "stream")
        self.begin(stream, "leg", label)

    def end_stream(self, stream: str) -> bool:
        """Free the lifeline of a stream; False: it has ended before."""
        if stream in self.ended:
            return False
        self.ended.add(stream)
        lifeline = self.lifeline(stream, kind="stream")
        self.free_places.setdefault(self.lifelines[lifeline].label, []).append(lifeline)
        self.end_all(stream)
        return True

    def begin(self, leg: str, kind: SpanKind, text: str = "") -> None:
        """Begin a span with the next row; one of its kind on its lifeline ends."""
        self.end(leg, kind)
        lifeline = self.lifeline(leg)
        self.open.add((lifeline, kind))
        self.begun.append(TimelineSpan(lifeline, kind, text))

    def end(self, leg: str, kind: SpanKind) -> None:
        """End a span with the next row, if there is one."""
        lifeline = self.places.get(leg, leg)
        if (lifeline, kind) in self.open:
            self.open.remove((lifeline, kind))
            self.over.append(TimelineSpan(lifeline, kind))

    def end_all(self, leg: str) -> None:
        """End all spans of a leg."""
        lifeline = self.places.get(leg, leg)
        for kind in sorted(kind for each, kind in self.open if each == lifeline):
            self.end(leg, kind)

    def join(self, bridge: str, legs: tuple[str, ...]) -> None:
        """Move legs to a bridge."""
        self.leave(*legs)
        members = self.bridges[bridge] = (*self.bridges.get(bridge, ()), *legs)
        for leg in members if len(members) > 1 else ():
            if (self.lifeline(leg), "bridge") not in self.open:
                self.begin(leg, "bridge", "bridged with others")

    def leave(self, *legs: str) -> None:
        """Remove legs from their bridges."""
        for bridge, members in self.bridges.items():
            rest = tuple(each for each in members if each not in legs)
            if rest != members:
                self.bridges[bridge] = rest
                for leg in legs if len(rest) > 1 else members:
                    self.end(leg, "bridge")

    @property
    def ringing(self) -> set[str]:
        """The legs that are dialed and not answered."""
        legs = {each.id for each in self.lifelines.values() if each.kind == "leg"}
        return legs - self.answered - self.ended - self.snoops.keys()


def _short_name(index: int) -> str:
    rounds, short_name = divmod(index, 26)
    return chr(ord("A") + short_name) + (str(rounds) if rounds else "")
