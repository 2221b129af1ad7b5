"""The metrics of streams; docs/operations/metrics.md explains them."""

from collections.abc import Iterator
from typing import get_args

from base.metrics import FAST_BUCKETS, SLOW_BUCKETS, Counter, Histogram
from wire.streams.reports import EndReason


class StreamMetrics:
    """The metrics of one gateway."""

    def __init__(self) -> None:
        self.started = Counter(
            "switchroom_streams_started_total", "Streams that were set up, by protocol", "protocol"
        )
        self.ended = Counter(
            "switchroom_streams_ended_total", "Streams that ended, by reason", "reason"
        )
        for reason in get_args(EndReason):
            self.ended.initialize(reason)  # an alert needs the series from the start
        self.connect_duration = Histogram(
            "switchroom_stream_connect_seconds",
            "From a stream's setup until its bot accepted it",
            bounds=FAST_BUCKETS,
        )
        self.first_audio = Histogram(
            "switchroom_stream_first_audio_seconds",
            "From a bot's acceptance of a stream to its first sound",
            bounds=SLOW_BUCKETS,
        )
        self.turn_latency = Histogram(
            "switchroom_stream_turn_latency_seconds",
            "From the end of a caller's speech to the bot's first audio",
            bounds=SLOW_BUCKETS,
        )
        self.barge_ins = Counter(
            "switchroom_stream_barge_ins_total",
            "Sounds of callers while a bot spoke, by outcome: paused, resumed, flushed",
            "outcome",
        )
        self.utterances = Counter(
            "switchroom_stream_utterances_total",
            "Utterances of callers, by result: understood, not-understood",
            "result",
        )
        for result in ("understood", "not-understood"):
            self.utterances.initialize(result)
        self.transcript_latency = Histogram(
            "switchroom_stream_transcript_seconds",
            "From the end of an utterance, before the silence that shows it, to its transcript",
            bounds=SLOW_BUCKETS,
        )
        self.dropped_frames = Counter(
            "switchroom_stream_dropped_frames_total",
            "Frames of 20 ms of bots' audio that were not played, by reason",
            "reason",
        )

    @property
    def families(self) -> Iterator[Counter | Histogram]:
        yield from vars(self).values()
