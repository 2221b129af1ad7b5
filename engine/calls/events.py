"""What can happen to a call: past tense, as values; the only input of `step`."""

from msgspec import Struct

from wire.media import Clip
from wire.verbs import Action

Tries = tuple[tuple[int, int], ...]  # of a webhook: how long each took in ms, and its status


class _Event(Struct, frozen=True, array_like=True, tag_field="e"):
    """What all events share: stored as tagged arrays in the call's log."""


class CallOpened(_Event, frozen=True, tag="open"):
    """The call was made: its first event."""


class LegPlaced(_Event, frozen=True, tag="placed"):
    """A leg that we asked for exists and is ours to command; its party is not called yet."""

    leg: str


class LegRang(_Event, frozen=True, tag="rang"):
    """The leg's phone rings."""

    leg: str


class LegAnswered(_Event, frozen=True, tag="answered"):
    """The leg is up."""

    leg: str


class LegEnded(_Event, frozen=True, tag="ended"):
    """The leg's channel is gone, with its Q.850 cause and, where known, the SIP status."""

    leg: str
    cause: int
    sip_code: int = 0


class DigitPressed(_Event, frozen=True, tag="digit"):
    """A key was pressed on a leg; `pressed_ms` is its key-down."""

    leg: str
    digit: str
    pressed_ms: int


class MediaFetched(_Event, frozen=True, tag="media"):
    """The audio asked for is at hand, in the order asked; what could not be had is left out."""

    request: str
    clips: tuple[Clip, ...]
    faults: tuple[str, ...] = ()


class PlaybackEnded(_Event, frozen=True, tag="played"):
    """A playback came to its end, or could not go on."""

    playback: str
    failed: bool = False


class ActionReplied(_Event, frozen=True, tag="replied"):
    """A webhook or a stored flow said what to do next; None: nothing more."""

    request: str
    action: Action | None
    tries: Tries = ()


class ActionFailed(_Event, frozen=True, tag="unreplied"):
    """A webhook or a stored flow gave nothing that can run."""

    request: str
    reason: str
    tries: Tries = ()


class BridgeFailed(_Event, frozen=True, tag="unbridged"):
    """Legs could not be joined."""

    bridge: str
    reason: str


class HangupRequested(_Event, frozen=True, tag="hangup"):
    """Somebody asked for the end of the call."""

    by: str
    cause: int = 16


class DeadlinePassed(_Event, frozen=True, tag="due"):
    """The call's own next deadline is here."""


class Recovered(_Event, frozen=True, tag="recovered"):
    """Another life of the engine took the call up; what was missed has been told before."""

    bridged: tuple[str, ...] = ()


Event = (
    CallOpened
    | LegPlaced
    | LegRang
    | LegAnswered
    | LegEnded
    | DigitPressed
    | MediaFetched
    | PlaybackEnded
    | ActionReplied
    | ActionFailed
    | BridgeFailed
    | HangupRequested
    | DeadlinePassed
    | Recovered
)
