"""Turns the audio of a stream into utterances, and those into messages to the gateway.

The utterances of a recording are decoded one after the other: until one is done, no further audio
is read.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from speech.audio.endpointing import Endpointer, UtteranceEnded, UtteranceStarted
from speech.audio.frames import FRAME_MS, FrameCutter, level_db
from speech.recognizer import Recognition, Transcript
from wire.streams.recognizer import (
    FinalTranscript,
    FromRecognizer,
    InterimTranscript,
    RecognizerStart,
    SpeechEnded,
    SpeechStarted,
)

_LEAD_MS = 240  # of audio before the level rises: consonants are quiet
_MAX_LEAD_FRAMES = 60 // FRAME_MS + _LEAD_MS // FRAME_MS
Send = Callable[[FromRecognizer], None]


class Utterances:
    """The utterances of a stream: only their audio reaches the recognizer."""

    def __init__(self, start: RecognizerStart, send: Send) -> None:
        self._send = send
        self._cutter = FrameCutter(start.rate)
        self._endpointer = Endpointer(start.silence_ms, start.max_ms)
        self._lead: deque[bytes] = deque(maxlen=_MAX_LEAD_FRAMES)
        self._results: deque[asyncio.Task[None]] = deque()
        self._is_live = start.live

    def on_interim(self, transcript: Transcript) -> None:
        """Send what was understood so far."""
        start_ms = self._endpointer.start_ms
        if start_ms is not None:  # else its final transcript is due
            self._send(
                InterimTranscript(
                    transcript.text, transcript.confidence, start_ms, self._endpointer.now_ms
                )
            )

    async def hear(self, audio: bytes, recognition: Recognition) -> None:
        """Take a message of audio; raises RecognitionFailed, also of an earlier result."""
        for frame in self._cutter.cut(audio):
            match self._endpointer.hear(level_db(frame)):
                case UtteranceStarted(at_ms):
                    self._send(SpeechStarted(at_ms))
                    await self._feed_lead(recognition)
                    await recognition.feed(frame)
                case UtteranceEnded() as ended:
                    await recognition.feed(frame)
                    await self._finish(ended, recognition)
                case None if self._endpointer.start_ms is not None:
                    await recognition.feed(frame)
                case None:
                    self._lead.append(frame)
        self._check_results()

    async def end(self, recognition: Recognition) -> None:
        """End the present utterance, and wait for all results; raises RecognitionFailed."""
        if (ended := self._endpointer.end()) is not None:
            await self._finish(ended, recognition)
        while self._results:
            await self._results.popleft()

    async def close(self) -> None:
        """Wait for nothing any more."""
        for each in self._results:
            each.cancel()
        await asyncio.gather(*self._results, return_exceptions=True)

    async def _feed_lead(self, recognition: Recognition) -> None:
        for frame in self._lead:
            await recognition.feed(frame)
        self._lead.clear()

    async def _finish(self, ended: UtteranceEnded, recognition: Recognition) -> None:
        self._send(SpeechEnded(ended.end_ms))
        result = self._deliver(ended, await recognition.finish())
        self._results.append(asyncio.create_task(result))
        if not self._is_live:
            await self._results.popleft()

    async def _deliver(
        self, ended: UtteranceEnded, result: Coroutine[Any, Any, Transcript]
    ) -> None:
        transcript = await result
        self._send(
            FinalTranscript(transcript.text, transcript.confidence, ended.start_ms, ended.end_ms)
        )

    def _check_results(self) -> None:
        """Raise the failure of a result, if any; forget those that were sent."""
        while self._results and self._results[0].done():
            self._results.popleft().result()
