"""Deepgram's API for files, which gets recordings: the live one takes no audio ahead of time."""

from collections.abc import Sequence

from aiohttp import ClientSession
from msgspec import MsgspecError, Struct, json

from speech.cloud.recordings import http_url, post_file
from speech.recognizer import RecognitionFailed, Transcript


class _Alternative(Struct, frozen=True):
    transcript: str = ""
    confidence: float = 0.0


class _Channel(Struct, frozen=True):
    alternatives: tuple[_Alternative, ...] = ()


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
