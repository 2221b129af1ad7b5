"""The offline recognizer of free speech: its streams are in worker processes."""

from collections.abc import Coroutine
from typing import Any

from speech.hints import prompt_of
from speech.recognizer import OnInterim, Transcript
from speech.worker.pool import WorkerPools
from speech.worker.process import WorkerStream
from speech.worker.protocol import Prompt, UtteranceDone
from wire.streams.recognizer import RecognizerStart


class WhisperRecognizer:
    """Understands any English sentence, after the end of the utterance."""

    name = "whisper"
    languages = frozenset({"en"})

    def __init__(self, workers: WorkerPools) -> None:
        self._workers = workers

    async def open(self, start: RecognizerStart, _on_interim: OnInterim) -> "WhisperRecognition":
        prompt = Prompt(prompt_of(start.hints))
        return WhisperRecognition(await self._workers.of(start).open(start.rate, prompt, None))

    async def close(self) -> None:
        await self._workers.close()


class WhisperRecognition:
    """One stream."""

    def __init__(self, stream: WorkerStream) -> None:
        self._stream = stream

    async def feed(self, audio: bytes) -> None:
        await self._stream.feed(audio)

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        return _transcript(await self._stream.finish())

    async def close(self) -> None:
        await self._stream.close()


async def _transcript(words: Coroutine[Any, Any, UtteranceDone]) -> Transcript:
    done = await words
    return Transcript(" ".join(done.words), done.confidence)
