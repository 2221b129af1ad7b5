"""The media streams of a call: each is a channel that a gateway connects with a bot."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from engine.calls.model.stream_events import SpeechUnderstood
from wire.streams.setup import BargeIn, Recognition, Resume
from wire.verbs import StreamData
from wire.webhooks import StreamEndReason

# A recognizer's address is known to its gateway; this one is never called (RFC 6761).
RECOGNIZER_URL = "wss://recognizer.invalid"
ChannelState = Literal["requested", "up", "ended"]
MAX_LATENCIES = 100  # the latest ones: they are stored with every step of the call


class StreamActivity(Struct, frozen=True, array_like=True, gc=False):
    """What happened on a stream, and on those before it whose place it has taken."""

    connected_ms: int = 0  # when a bot accepted the first of them; 0: never
    resumes: int = 0  # how often one has taken the place of another
    turns: int = 0  # of the bot: it spoke after the caller
    barge_ins: int = 0  # the caller's speech dropped the bot's audio
    max_latency_ms: int = 0  # of all turns
    latencies_ms: tuple[int, ...] = ()  # of the latest turns, from the end of the caller's speech

    def connected(self, now: int) -> "StreamActivity":
        """Count a bot that accepts a stream."""
        return self if self.connected_ms else replace(self, connected_ms=now)

    def resumed(self) -> "StreamActivity":
        """Count a stream that takes the place of one that was lost."""
        return replace(self, resumes=self.resumes + 1)

    def with_turn(self, latency_ms: int) -> "StreamActivity":
        """Count a turn of the bot."""
        return replace(
            self,
            turns=self.turns + 1,
            max_latency_ms=max(self.max_latency_ms, latency_ms),
            latencies_ms=(*self.latencies_ms, latency_ms)[-MAX_LATENCIES:],
        )

    def with_barge_in(self) -> "StreamActivity":
        """Count an interruption by the caller."""
        return replace(self, barge_ins=self.barge_ins + 1)


class EndedStream(Struct, frozen=True, array_like=True, gc=False):
    """A stream that has ended, and those before it whose place it has taken; for the record."""

    id: str
    protocol: str
    host: str
    is_fork: bool
    started_ms: int
    ended_ms: int
    heard_ms: int
    reason: StreamEndReason
    activity: StreamActivity


def recognizer_data(barge_in: BargeIn) -> StreamData:
    """Return the settings of a recognizer's stream, which is a fork of what one leg says."""
    return StreamData(
        RECOGNIZER_URL, protocol="native", track="caller", barge_in=barge_in, fork=True
    )


class Stream(Struct, frozen=True, array_like=True, gc=False):
    """One stream, whose id is that of its channel; times are wall-clock milliseconds.

    `heard_ms` is how much of the bot's audio was heard when it was last reported.
    """

    id: str
    data: StreamData
    started_ms: int
    channel: ChannelState = "requested"
    connected_ms: int = 0  # when the bot accepted it; 0: not yet
    heard_ms: int = 0
    speaking_since_ms: int = 0  # since when the bot's audio is heard; 0: the bot is silent
    last_mark: str = ""
    end_reason: StreamEndReason | Literal[""] = ""  # as the gateway reported it
    # Of a fork only:
    snoop: str = ""  # the channel that hears the call for it; empty: it has none yet
    snooped: str = ""  # the leg of that
    is_snooping: bool = False  # the snoop exists
    snoop_failures: int = 0  # in a row
    failures: int = 0  # in a row, since a stream has lasted
    due_ms: int = 0  # of the next try, or until when the report of an ended stream is awaited
    limit_ms: int = 0  # 0: none
    recognition: Recognition | None = None  # of a recognizer, which listens for a gather
    leg: str = ""  # whom it hears; empty: the main leg
    # Of all streams:
    activity: StreamActivity = StreamActivity()
    transcript: SpeechUnderstood | None = None  # the last one, which a gateway may repeat

    @property
    def is_recognizer(self) -> bool:
        """Whether a recognizer is at its other end, instead of a bot."""
        return self.recognition is not None

    @property
    def is_lost(self) -> bool:
        """Whether its channel or its bot has ended."""
        return self.channel == "ended" or self.end_reason != ""

    @property
    def is_forking(self) -> bool:
        """Whether it is a fork whose snoop and stream exist."""
        return self.is_snooping and self.channel == "up" and not self.end_reason

    def heard_until(self, now: int) -> int:
        """Return how much of the bot's audio has been heard now, as far as is known."""
        speaking_ms = max(0, now - self.speaking_since_ms) if self.speaking_since_ms else 0
        return self.heard_ms + speaking_ms

    def resume_point(self, before: Resume | None, now: int) -> Resume | None:
        """Return where a stream that takes its place continues: after what was heard last.

        `before` is where this one continued.
        """
        heard_ms, last_mark = self.heard_until(now), self.last_mark
        if not self.connected_ms or (before and not heard_ms and not last_mark):
            return before
        return Resume(self.id, heard_ms, last_mark or (before.last_mark if before else ""))

    def without_snoop(self) -> "Stream":
        """Return the fork whose snoop ends."""
        return replace(self, snoop="", snooped="", is_snooping=False)

    def silenced(self, heard_ms: int) -> "Stream":
        """Return the stream whose bot is silent after so much of its audio was heard."""
        return replace(self, heard_ms=heard_ms, speaking_since_ms=0)
