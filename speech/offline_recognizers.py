"""The offline recognizers, whose streams are in worker processes: grammars and free speech."""

from collections.abc import Coroutine, Sequence
from typing import Any

from speech.grammar import HintGrammar
from speech.recognizer import OnInterim, Transcript, prompt_of
from speech.vocabulary import Dictionary
from speech.worker.process import WorkerPools, WorkerStream
from speech.worker.protocol import GrammarVocabulary, Prompt, UtteranceDone
from wire.streams.recognizer import RecognizerStart

_INTERIM_CONFIDENCE = 0.5  # nothing is known of it before the end


class GrammarRecognizer:
    """Understands the hints of a stream, and nothing else."""

    name = "grammar"
    languages = frozenset({"en"})

    def __init__(self, workers: WorkerPools, dictionary: Dictionary) -> None:
        self._workers = workers
        self._dictionary = dictionary

    async def open(self, start: RecognizerStart, on_interim: OnInterim) -> "GrammarRecognition":
        hints = HintGrammar(start.hints, self._dictionary)

        def on_heard(names: Sequence[str]) -> None:
            if text := hints.partial_text_of(names):
                on_interim(Transcript(text, _INTERIM_CONFIDENCE))

        vocabulary = GrammarVocabulary(hints.grammar)
        heard = on_heard if start.interim else None
        return GrammarRecognition(
            await self._workers.of(start).open(start.account, start.rate, vocabulary, heard), hints
        )

    async def close(self) -> None:
        await self._workers.close()


class GrammarRecognition:
    """One stream."""

    def __init__(self, stream: WorkerStream, hints: HintGrammar) -> None:
        self._stream = stream
        self._hints = hints

    async def feed(self, audio: bytes) -> None:
        await self._stream.feed(audio)

    async def finish(self) -> Coroutine[Any, Any, Transcript]:
        return self._transcript(await self._stream.finish())

    async def close(self) -> None:
        await self._stream.close()

    async def _transcript(self, words: Coroutine[Any, Any, UtteranceDone]) -> Transcript:
        done = await words
        text = self._hints.text_of(done.words)
        return Transcript(text, done.confidence) if text else Transcript()


class WhisperRecognizer:
    """Understands any English sentence, after the end of the utterance."""

    name = "whisper"
    languages = frozenset({"en"})

    def __init__(self, workers: WorkerPools) -> None:
        self._workers = workers

    async def open(self, start: RecognizerStart, _on_interim: OnInterim) -> "WhisperRecognition":
        prompt = Prompt(prompt_of(start.hints))
        return WhisperRecognition(
            await self._workers.of(start).open(start.account, start.rate, prompt, None)
        )

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
