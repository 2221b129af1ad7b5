"""The messages between the server and a worker process, and their framing."""

from typing import BinaryIO

import msgspec
from msgspec import Struct

from speech.grammar import Grammar

LENGTH_BYTES = 4


class Prompt(Struct, frozen=True, tag="prompt"):
    """What a transcriber is given beside the audio: words that are likely."""

    hints: str


class GrammarVocabulary(Struct, frozen=True, tag="grammar"):
    """What a decoder of grammars is given."""

    grammar: Grammar


class OpenStream(Struct, frozen=True, tag="open"):
    """A stream begins."""

    stream: int
    rate: int
    vocabulary: GrammarVocabulary | Prompt
    interim: bool


class FeedAudio(Struct, frozen=True, tag="audio"):
    """Audio of the present utterance of a stream."""

    stream: int
    audio: bytes


class FinishUtterance(Struct, frozen=True, tag="finish"):
    """The utterance of a stream ends; an UtteranceDone is the reply."""

    stream: int


class CloseStream(Struct, frozen=True, tag="close"):
    """A stream has ended; there is no reply."""

    stream: int


class StreamOpened(Struct, frozen=True, tag="opened"):
    """A stream can be decoded."""

    stream: int


class UtteranceHeard(Struct, frozen=True, tag="heard"):
    """What was decoded of an utterance so far, in words."""

    stream: int
    words: tuple[str, ...]


class UtteranceDone(Struct, frozen=True, tag="done"):
    """What was decoded of an utterance, in words; none: nothing."""

    stream: int
    words: tuple[str, ...]
    confidence: float


class StreamFailed(Struct, frozen=True, tag="failed"):
    """A stream cannot be decoded, or no further."""

    stream: int
    text: str


class JobDone(Struct, frozen=True, tag="job-done"):
    """The oldest job is done, and has cost so much processor time; it follows other replies."""

    cost_s: float


Job = OpenStream | FeedAudio | FinishUtterance | CloseStream
StreamReply = StreamOpened | UtteranceHeard | UtteranceDone | StreamFailed
Reply = StreamReply | JobDone
jobs: msgspec.msgpack.Decoder[Job] = msgspec.msgpack.Decoder(Job)
replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def frame(message: Job | Reply) -> bytes:
    """Encode a message with its length in front."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_job(pipe: BinaryIO) -> Job | None:
    """Wait for the next job; None when the server has closed the pipe."""
    length = pipe.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    return jobs.decode(pipe.read(int.from_bytes(length, "big")))
