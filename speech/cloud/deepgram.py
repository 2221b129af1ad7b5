"""The recognizer of Deepgram: its live API, as publicly documented, on a websocket a stream.

Utterances end as they do with other recognizers: the end is sent as `Finalize`, and the transcript
consists of the final results until the one that Deepgram marks with `from_finalize`.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse
from msgspec import MsgspecError, Struct, convert, json

from speech.cloud.connection import ServiceConnection, connect
from speech.cloud.recordings import Recording, RecordingLimit, http_url, post_file
from speech.recognizer import OnInterim, RecognitionFailed, Transcript, hinted_words
from wire.streams.recognizer import RecognizerStart

_FINALIZE_S = 2.0  # Deepgram may not reply to it when nothing is left to transcribe
_KEEP_ALIVE_S = 4.0  # without audio it closes after 10 s
_MAX_HINTS = 100


class _Alternative(Struct, frozen=True):
    transcript: str = ""
    confidence: float = 0.0


class _Channel(Struct, frozen=True):
    alternatives: tuple[_Alternative, ...] = ()


class _Message(Struct, frozen=True):
    """A message of Deepgram; those of a type other than Results have no channel."""

    type: str = ""
    channel: Any = None  # of other types it is a list of numbers
    is_final: bool = False
    from_finalize: bool = False


_messages = json.Decoder(_Message)


class DeepgramSettings(Struct, frozen=True):
    url: str
    key: str
    model: str
    recordings: int  # at a time


class DeepgramRecognizer:
    """Streams go to Deepgram, with the operator's key."""

    name = "deepgram"
    languages: frozenset[str] = frozenset()  # depends on the model: Deepgram rejects others

    def __init__(self, settings: DeepgramSettings, http: ClientSession) -> None:
        self._settings = settings
        self._http = http
        self._files = DeepgramFiles(settings.url, settings.key, http)
        self._limit = RecordingLimit(settings.recordings)

    async def open(
        self, start: RecognizerStart, on_interim: OnInterim
    ) -> "DeepgramRecognition | Recording":
        if not start.live:
            query = file_query(start, self._settings.model)
            return Recording(
                self._limit, start.rate, lambda wav: self._files.transcribe(wav, query)
            )
        socket = await connect(
            self._http,
            self.name,
            self._settings.url,
            {"Authorization": f"Token {self._settings.key}"},
            live_query(start, self._settings.model),
        )
        return DeepgramRecognition(socket, on_interim)

    async def close(self) -> None:
        await self._http.close()


def live_query(start: RecognizerStart, model: str) -> list[tuple[str, str]]:
    """Return the parameters of a stream."""
    return [
        *file_query(start, model),
        ("encoding", "linear16"),
        ("sample_rate", str(start.rate)),
        ("channels", "1"),
        ("interim_results", "true" if start.interim else "false"),
        ("endpointing", "false"),
    ]


def file_query(start: RecognizerStart, model: str) -> list[tuple[str, str]]:
    """Return the parameters that files have, too."""
    term = "keyterm" if model.startswith("nova-3") else "keywords"
    return [
        ("model", model),
        ("language", start.language),
        ("smart_format", "true"),
        *((term, each) for each in hinted_words(start.hints)[:_MAX_HINTS]),
    ]


class _Utterance:
    """The final results of an utterance so far, and whether it is complete."""

    def __init__(self) -> None:
        self.parts: list[_Alternative] = []
        self.done = asyncio.Event()

    def transcript(self, *further: _Alternative) -> Transcript:
        spoken = [each for each in (*self.parts, *further) if each.transcript]
        if not spoken:
            return Transcript()
        characters = sum(len(each.transcript) for each in spoken)
        weighted = sum(each.confidence * len(each.transcript) for each in spoken)
        text = " ".join(each.transcript for each in spoken)
        return Transcript(text, round(weighted / characters, 3))


class DeepgramRecognition:
    """One stream."""

    def __init__(self, socket: ClientWebSocketResponse, on_interim: OnInterim) -> None:
        self._on_interim = on_interim
        self._utterances: deque[_Utterance] = deque([_Utterance()])  # the last one is present
        self._connection = ServiceConnection("deepgram", socket, self._take, self._release)
        self._keep_alive_task = asyncio.create_task(self._keep_alive())

    async def feed(self, audio: bytes) -> None:
        await self._connection.send(audio)

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        ended = self._utterances[-1]
        self._utterances.append(_Utterance())  # before the reply can arrive
        await self._connection.send('{"type":"Finalize"}')
        return self._transcript(ended)

    async def close(self) -> None:
        self._keep_alive_task.cancel()
        await asyncio.gather(self._keep_alive_task, return_exceptions=True)
        await self._connection.close('{"type":"CloseStream"}')

    async def _transcript(self, ended: _Utterance) -> Transcript:
        await self._connection.wait(ended.done, _FINALIZE_S)
        with suppress(ValueError):
            self._utterances.remove(ended)  # its time is over
        return ended.transcript()

    def _take(self, text: str) -> None:
        message = _messages.decode(text)
        if message.type != "Results":
            return
        channel = convert(message.channel, _Channel)
        best = channel.alternatives[0] if channel.alternatives else _Alternative()
        oldest = self._utterances[0]
        if not message.is_final:
            self._on_interim(oldest.transcript(best))
            return
        oldest.parts.append(best)
        if message.from_finalize and len(self._utterances) > 1:
            self._utterances.popleft().done.set()

    def _release(self) -> None:
        for each in self._utterances:
            each.done.set()

    async def _keep_alive(self) -> None:
        with suppress(RecognitionFailed):  # the stream learns it when it sends audio
            while True:
                await asyncio.sleep(_KEEP_ALIVE_S)
                await self._connection.send('{"type":"KeepAlive"}')


class _Results(Struct, frozen=True):
    channels: tuple[_Channel, ...]


class _Response(Struct, frozen=True):
    results: _Results


_responses = json.Decoder(_Response)


class DeepgramFiles:
    """Files that are sent to Deepgram; `url` is that of the live API."""

    def __init__(self, url: str, key: str, http: ClientSession) -> None:
        self._url = http_url(url)
        self._headers = {"Authorization": f"Token {key}", "Content-Type": "audio/wav"}
        self._http = http

    async def transcribe(self, wav: bytes, query: Sequence[tuple[str, str]]) -> Transcript:
        """Return the transcript of a file; raises RecognitionFailed."""
        body = await post_file(
            self._http, "deepgram", self._url, data=wav, params=query, headers=self._headers
        )
        try:
            channels = _responses.decode(body).results.channels
        except MsgspecError:
            raise RecognitionFailed("failed", "deepgram: an unexpected response") from None
        if not (channels and channels[0].alternatives):
            return Transcript()
        best = channels[0].alternatives[0]
        return Transcript(best.transcript, best.confidence)
