"""The worker process: decodes audio of callers outside the server.

Started as `python -m speech.worker.main MEMORY_BYTES PARENT_PID NICENESS [MODEL]`; MODEL is the
folder of a Whisper model, without it the worker decodes grammars. It can open no other files, nor
the network, nor start programs. Jobs arrive on stdin, replies go to stdout. It ends with its
parent.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Protocol

from base.sandbox import ResourceLimits, end_with_parent, report, restrict, set_limits
from speech.grammar import phone_loop
from speech.worker.protocol import (
    CloseStream,
    FeedAudio,
    FinishUtterance,
    GrammarVocabulary,
    Job,
    JobDone,
    OpenStream,
    Prompt,
    StreamFailed,
    StreamOpened,
    StreamReply,
    UtteranceDone,
    UtteranceHeard,
    frame,
    read_job,
)

_FILE_BYTES = 1 << 20
_OPEN_FILES = 256
_INTERIM_FEEDS = 10  # messages of audio between two looks: 200 ms


class DecodedStream(Protocol):
    def feed(self, audio: bytes) -> None: ...

    def heard(self) -> tuple[str, ...]: ...

    def finish(self) -> tuple[tuple[str, ...], float]: ...


OpenDecoder = Callable[[OpenStream], DecodedStream]


class Worker:
    """The streams of this process, by number; one that fails is closed, the others continue."""

    def __init__(self, open_decoder: OpenDecoder) -> None:
        self._open_decoder = open_decoder
        self._streams: dict[int, DecodedStream] = {}
        self._feeds: dict[int, int] = {}  # of streams with interim results, in this utterance
        self._heard: dict[int, tuple[str, ...]] = {}

    def run(self, job: Job) -> StreamReply | None:
        try:
            return self._run(job)
        except Exception as error:  # noqa: BLE001 - any error of a library fails only its stream
            self._close(job.stream)
            report(f"speech worker: {error!r}")
            return StreamFailed(job.stream, "the recognizer failed")

    def _run(self, job: Job) -> StreamReply | None:
        match job:
            case OpenStream(stream):
                self._streams[stream] = self._open_decoder(job)
                if job.interim:
                    self._feeds[stream] = 0
                return StreamOpened(stream)
            case FeedAudio(stream, audio):
                if (decoded := self._streams.get(stream)) is None:
                    return None  # it has failed
                decoded.feed(audio)
                return self._look(stream, decoded)
            case FinishUtterance(stream):
                if (decoded := self._streams.get(stream)) is None:
                    return None
                if stream in self._feeds:
                    self._feeds[stream] = 0
                    self._heard.pop(stream, None)
                return UtteranceDone(stream, *decoded.finish())
            case CloseStream(stream):
                self._close(stream)
                return None

    def _look(self, stream: int, decoded: DecodedStream) -> UtteranceHeard | None:
        if stream not in self._feeds:
            return None
        self._feeds[stream] += 1
        if self._feeds[stream] % _INTERIM_FEEDS:
            return None
        words = decoded.heard()
        if words == self._heard.get(stream, ()):
            return None
        self._heard[stream] = words
        return UtteranceHeard(stream, words)

    def _close(self, stream: int) -> None:
        for each in (self._streams, self._feeds, self._heard):
            each.pop(stream, None)


def main(memory_bytes: int, parent_pid: int, niceness: int, model: Path | None) -> None:
    """Run jobs until the server closes the pipe."""
    end_with_parent(signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended before the call above
        sys.exit()
    os.nice(niceness)
    set_limits(ResourceLimits(memory_bytes, _FILE_BYTES, _OPEN_FILES))
    open_decoder = _grammars() if model is None else _whisper(model)
    restrict()
    # Native libraries print to descriptor 1; the replies keep a private one.
    with os.fdopen(os.dup(1), "wb") as replies:
        os.dup2(2, 1)
        _serve(Worker(open_decoder), sys.stdin.buffer, replies)


def _serve(worker: Worker, jobs: BinaryIO, replies: BinaryIO) -> None:
    while (job := read_job(jobs)) is not None:
        began_s = time.process_time()
        if (reply := worker.run(job)) is not None:
            replies.write(frame(reply))
        replies.write(frame(JobDone(time.process_time() - began_s)))
        replies.flush()


def _grammars() -> OpenDecoder:
    from speech.worker.grammar_decoder import GrammarStream  # noqa: PLC0415 - not for Whisper

    phones = phone_loop()

    def open_decoder(job: OpenStream) -> DecodedStream:
        if not isinstance(job.vocabulary, GrammarVocabulary):
            raise TypeError("no grammar")
        return GrammarStream(job.rate, job.vocabulary.grammar, phones)

    return open_decoder


def _whisper(folder: Path) -> OpenDecoder:
    from speech.worker.whisper_decoder import WhisperStream, load_model  # noqa: PLC0415 - nor for grammars

    model = load_model(folder)

    def open_decoder(job: OpenStream) -> DecodedStream:
        if not isinstance(job.vocabulary, Prompt):
            raise TypeError("no prompt")
        return WhisperStream(job.rate, job.vocabulary.hints, model)

    return open_decoder


if __name__ == "__main__":
    _memory_bytes, _parent_pid, _niceness = map(int, sys.argv[1:4])
    main(_memory_bytes, _parent_pid, _niceness, Path(sys.argv[4]) if sys.argv[4:] else None)
