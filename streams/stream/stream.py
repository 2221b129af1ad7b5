"""One stream: what its PBX, its bot and its engine do to it, and what becomes of it."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from streams.bots.limits import MessageLimits, TooFast
from streams.bots.loop_shares import LoopShare
from streams.bots.protocols.messages import (
    Action,
    BotMessage,
    Clear,
    Failed,
    Ignored,
    InvalidMessage,
    Mark,
    Ready,
    RecognizerMessage,
    Stop,
    check_tree,
)
from streams.bots.protocols.protocol import BotProtocol, Position
from streams.pbx import PbxEvent
from streams.stream.audio import FRAME_MS
from streams.stream.bot_audio import BotAudio
from streams.stream.context import BotLink, PbxLink, StreamContext
from streams.stream.ear import CallerEar, UtteranceEar
from streams.stream.playout import QueueFull
from streams.stream.reporter import StreamReporter
from streams.stream.transcription import READY_MS, Transcription
from wire.streams.reports import EndReason, LiveStream, StreamEnded
from wire.streams.setup import ActionMessage, DigitMessage, StreamMessage, StreamSetup, TextMessage


class Stream:
    """A stream from its setup to its end; `on_end` gets the last report."""

    def __init__(
        self,
        stream_id: str,
        setup: StreamSetup,
        protocol: BotProtocol,
        context: StreamContext,
        on_end: Callable[["Stream", StreamEnded], None],
    ) -> None:
        self.id = stream_id
        self.setup = setup
        self._protocol = protocol
        self._audio = protocol.audio_format
        self._context = context
        self._on_end = on_end
        self._began_ms = context.now_ms()
        self._connected_ms: float | None = None
        self._is_ended = False
        self._inbox = Inbox()
        self._limits = MessageLimits(context.accounts.join(setup.account))
        self._loop_share = context.accounts.loop.join(setup.account)
        self._silence = SilenceClock()
        self._reporter = StreamReporter(stream_id, context)
        self._transcription: Transcription | None = None

    def attach(self, pbx: PbxLink, bot: BotLink) -> None:
        """Give it its two ends, which may not be connected yet."""
        self._pbx = pbx
        self._bot = bot
        self._loop_share.add(bot)
        judges = self._context.judges.charged_to(self._loop_share)
        self._output = BotAudio(
            pbx,
            self._audio,
            CallerEar(self.setup.barge_in, self._audio, judges),
            self._reporter,
            on_mark=self._mark_done,
            on_flush=self._flushed,
            is_mute=self.setup.is_fork,
        )
        if self.setup.recognition is not None:
            ear = UtteranceEar(self.setup.barge_in, self._audio, judges)
            send = bot.send_binary
            self._transcription = Transcription(ear, self._audio, self._reporter, send)

    @property
    def is_ended(self) -> bool:
        return self._is_ended

    @property
    def pbx(self) -> PbxLink:
        return self._pbx

    @property
    def loop_share(self) -> LoopShare:
        """The share of its account, which its messages are charged to."""
        return self._loop_share

    def live(self) -> LiveStream:
        """Return what a Snapshot says of it."""
        return LiveStream(
            self.id,
            self._connected_ms is not None,
            self._output.heard_ms(self._context.now_ms()),
            self._output.last_mark,
            self._reporter.last_transcript,
        )

    def tick(self) -> None:
        """Send what is due."""
        now_ms = self._context.now_ms()
        if self._transcription is not None:
            self._tick_transcription(self._transcription, now_ms)
        elif not self.setup.is_fork:
            self._output.tick(now_ms)
            if self._output.is_acting:
                for at_ms in self._silence.due(now_ms):
                    self._send_audio(self._audio.silence, at_ms)

    def _tick_transcription(self, transcription: Transcription, now_ms: float) -> None:
        if transcription.is_late(now_ms):
            self.end("unreachable", f"no `ready` in {READY_MS // 1000} s")
        else:
            transcription.tick(now_ms)

    def send(self, message_id: str, message: StreamMessage) -> None:
        """Pass an engine's message on to the bot, once."""
        for each in self._inbox.put(message_id, message):
            self._pass_on(each)

    def end(self, reason: EndReason, detail: str = "", http_status: int = 0) -> None:
        """End it; the PBX's side is closed by who gets the report."""
        if self._is_ended:
            return
        self._is_ended = True
        self._context.accounts.leave(self.setup.account)
        self._context.accounts.loop.leave(self._loop_share)
        self._loop_share.remove(self._bot)
        now_ms = self._context.now_ms()
        heard_ms = self._output.heard_ms(now_ms)
        self._output.end()
        if self._transcription is not None:
            self._transcription.end()
        self._tell(self._protocol.farewell(self._position(now_ms)))
        duration_ms = 0 if self._connected_ms is None else round(now_ms - self._connected_ms)
        self._bot.close()
        last_mark = self._output.last_mark
        report = self._reporter.ended(reason, duration_ms, heard_ms, last_mark, detail)
        self._on_end(self, replace(report, http_status=http_status))

    # What its bot does

    def bot_connected(self) -> None:
        """Greet the bot, which has accepted the stream."""
        if self._is_ended:
            return
        for text in self._protocol.greeting():
            self._bot.send_text(text)
        if self._transcription is None:
            self._accept()
        else:
            self._transcription.connected(self._context.now_ms())

    def _accept(self) -> None:
        now_ms = self._context.now_ms()
        self._connected_ms = now_ms
        self._reporter.connected(now_ms - self._began_ms)
        for message in self._inbox.open():
            self._pass_on(message)

    def bot_lost(self, reason: EndReason, detail: str) -> None:
        """Take the end of the connection to the bot."""
        self.end(reason, detail)

    def read_text(self, data: bytes) -> None:
        """Take a text of the bot."""
        self._read(data, self._protocol.read_text)

    def read_binary(self, data: bytes) -> None:
        """Take a binary message of the bot."""
        self._read(data, self._protocol.read_binary)

    def count_frame(self, size: int) -> None:
        """Count a frame of the bot that is no message: a part of one, a ping or a pong."""
        if self._is_ended:
            return
        try:
            self._limits.check_frame(size, self._context.now_ms())
        except TooFast as error:
            self.end("too-fast", str(error))

    def _read(self, data: bytes, meaning: Callable[[bytes], BotMessage]) -> None:
        if self._is_ended:
            return
        now_ms = self._context.now_ms()
        try:
            self._limits.check_frame(len(data), now_ms)
            self._obey(meaning(data), now_ms)
        except InvalidMessage as error:
            self._reject(str(error), now_ms)
        except TooFast as error:
            self.end("too-fast", str(error))
        except QueueFull:
            self.end("too-fast", "more than ten minutes of audio wait to be heard")

    def _reject(self, why: str, now_ms: float) -> None:
        """Tell the bot that a message has no effect: it may wait for a mark to come back."""
        if self._limits.is_invalid_too_often(now_ms):
            self.end("invalid-message", why)
        else:
            self._extend({"invalid": why}, now_ms)

    def _obey(self, message: BotMessage, now_ms: float) -> None:
        if isinstance(message, bytes):
            self._output.play(message, now_ms)
            return
        match message:
            case Clear():
                self._output.clear(now_ms)
                self._tell(self._protocol.cleared or None)
            case Mark():
                if self._limits.is_mark_refused(now_ms, self._output.pending_marks):
                    raise InvalidMessage("too many marks in a second, or not heard yet")
                self._output.add_mark(message.name, now_ms)
            case Stop():
                self.end("bot-closed", "the bot has ended the stream")
            case Action():
                self._request(message.tree, now_ms)
            case Failed(reason, detail):
                self.end(reason, detail)
            case Ignored():
                pass
            case _:
                self._transcribe(message, now_ms)

    def _transcribe(self, message: RecognizerMessage, now_ms: float) -> None:
        if self._transcription is None:
            return
        if self._connected_ms is None:
            if not isinstance(message, Ready):
                self.end("invalid-message", "the recognizer sent a result before `ready`")
                return
            self._accept()
        self._transcription.read(message, now_ms)

    def _request(self, tree: bytes, now_ms: float) -> None:
        if self._limits.is_action_refused(now_ms):
            raise InvalidMessage("too many actions in a minute")
        if self.setup.is_fork:
            self._answer(ActionMessage("rejected", "a fork only listens"), now_ms)
        elif self._output.is_acting:
            self._answer(ActionMessage("rejected", "another action is running"), now_ms)
        else:
            check_tree(tree)
            self._reporter.action(tree, self._output.heard_ms(now_ms))

    def _pass_on(self, message: StreamMessage) -> None:
        now_ms = self._context.now_ms()
        match message:
            case TextMessage():
                self._extend({"text": message.text}, now_ms)
            case DigitMessage():
                self._tell(self._protocol.digit(message.digit, self._position(now_ms)))
            case ActionMessage():
                self._set_acting(message, now_ms)

    # What its PBX does

    def media_started(self, event: PbxEvent) -> None:
        """Begin to play: the PBX is ready."""
        if event.format != self._audio.name:
            text = f"its format is {event.format}; this protocol needs {self._audio.name}"
            self.end("pbx-unreachable", text)
            return
        self._output.start(self._context.now_ms())

    def hear_caller(self, frame: bytes) -> None:
        """Pass a frame of the caller's on, and listen to it."""
        if self._is_ended:
            return
        now_ms = self._context.now_ms()
        if self._transcription is not None:
            self._transcription.hear(frame, now_ms)
            return
        self._silence.restart(now_ms)
        self._send_audio(self._audio.silence if self._output.is_acting else frame, now_ms)
        if not self.setup.is_fork and not self._output.is_acting:
            self._output.hear_caller(frame, now_ms)

    def _send_audio(self, frame: bytes, at_ms: float) -> None:
        if self._connected_ms is not None:
            data = self._protocol.audio(frame, round(at_ms - self._connected_ms))
            (self._bot.send_binary if self._protocol.is_binary else self._bot.send_text)(data)

    def mark_returned(self, key: str) -> None:
        """Take a mark of the PBX: the audio before it was heard."""
        self._output.mark_returned(key, self._context.now_ms())

    def queue_known(self, frames: int) -> None:
        """Take the length of the PBX's queue."""
        self._output.queue_known(frames)

    def pbx_lost(self) -> None:
        """Take the end of the connection to the PBX."""
        self.end("pbx-lost")

    # What follows from that

    def _set_acting(self, message: ActionMessage, now_ms: float) -> None:
        if message.state != "rejected":  # then another action may go on
            self._output.set_acting(message.state == "started", now_ms)
        self._answer(message, now_ms)

    def _answer(self, message: ActionMessage, now_ms: float) -> None:
        """Tell the bot what has become of its action."""
        self._silence.restart(now_ms)
        more = {"result": message.result, "error": message.error}
        given = {name: each for name, each in more.items() if each}
        self._extend({"state": message.state, **given}, now_ms)

    def _mark_done(self, name: str, now_ms: float, *, is_cleared: bool) -> None:
        position = self._position(now_ms)
        self._tell(self._protocol.mark(name, position, is_cleared=is_cleared))
        self._reporter.mark(name, position.heard_ms, is_cleared=is_cleared)

    def _flushed(self, now_ms: float) -> None:
        fields = {"outcome": "flushed", "heardMs": self._output.heard_ms(now_ms)}
        self._extend({"bargeIn": fields}, now_ms)

    def _extend(self, fields: dict[str, Any], now_ms: float) -> None:
        self._tell(self._protocol.extension(fields, self._position(now_ms)))

    def _tell(self, text: bytes | None) -> None:
        if text is not None:
            self._bot.send_text(text)

    def _position(self, now_ms: float) -> Position:
        began_ms = self._began_ms if self._connected_ms is None else self._connected_ms
        return Position(self._output.heard_ms(now_ms), round(now_ms - began_ms))


MAX_IDS = 1_000  # that are remembered
MAX_EARLY = 100


class Inbox:
    """The messages of one stream."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}
        self._early: list[StreamMessage] = []
        self._is_open = False

    def put(self, message_id: str, message: StreamMessage) -> Iterator[StreamMessage]:
        """Take a message; return what is to be sent now."""
        if message_id in self._ids:
            return iter(())
        self._ids[message_id] = None
        if len(self._ids) > MAX_IDS:
            del self._ids[next(iter(self._ids))]
        if self._is_open:
            return iter((message,))
        if len(self._early) < MAX_EARLY:
            self._early.append(message)
        return iter(())

    def open(self) -> Iterator[StreamMessage]:
        """Return what has waited for the bot."""
        self._is_open = True
        early, self._early = self._early, []
        return iter(early)


GAP_MS = 100  # without a frame: the caller's channel is elsewhere, and not merely late


class SilenceClock:
    """Which frames of a caller are missing, once started; times are milliseconds of one clock."""

    _frame_ms: float  # when the last frame came, or was replaced
    _gap_ms: int

    def restart(self, now_ms: float) -> None:
        """Take a frame of the caller's, or the start of an action."""
        self._frame_ms, self._gap_ms = now_ms, GAP_MS

    def due(self, now_ms: float) -> list[float]:
        """Return the times of the frames that silence replaces now."""
        if now_ms - self._frame_ms < self._gap_ms:
            return []
        self._gap_ms = FRAME_MS
        times: list[float] = []
        while now_ms - self._frame_ms >= FRAME_MS:
            self._frame_ms += FRAME_MS
            times.append(self._frame_ms)
        return times
