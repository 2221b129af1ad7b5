"""OpenAI's API for files, which gets recordings: its live models take callers only.

https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create
"""

from aiohttp import ClientSession, FormData
from msgspec import MsgspecError, Struct, json

from speech.cloud.openai_messages import (
    LogProbability,
    has_logprobs,
    scored,
    transcription_options,
)
from speech.cloud.recordings import http_url, post_file
from speech.recognizer import RecognitionFailed, Transcript
from wire.streams.recognizer import RecognizerStart


class _Response(Struct, frozen=True):
    text: str
    logprobs: tuple[LogProbability, ...] | None = None


_responses = json.Decoder(_Response)


class OpenAiFiles:
    """Files that are sent to OpenAI; `url` is that of the Realtime API."""

    def __init__(self, url: str, key: str, model: str, http: ClientSession) -> None:
        self._url = f"{http_url(url).removesuffix('/realtime')}/audio/transcriptions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._model = model
        self._http = http

    async def transcribe(self, wav: bytes, start: RecognizerStart) -> Transcript:
        """Return the transcript of a file; raises RecognitionFailed."""
        form = _form(wav, start, self._model)
        body = await post_file(self._http, "openai", self._url, data=form, headers=self._headers)
        try:
            response = _responses.decode(body)
        except MsgspecError:
            raise RecognitionFailed("failed", "openai: an unexpected response") from None
        return scored(response.text, response.logprobs or ())


def _form(wav: bytes, start: RecognizerStart, model: str) -> FormData:
    form = FormData()
    form.add_field("file", wav, filename="recording.wav", content_type="audio/wav")
    form.add_field("response_format", "json")
    for name, value in transcription_options(start, model).items():
        for each in value if isinstance(value, list) else ():
            form.add_field(f"{name}[]", each)
        if isinstance(value, str):
            form.add_field(name, value)
    if has_logprobs(model):
        form.add_field("include[]", "logprobs")
    return form
