"""The messages between the engine and a worker process, and their framing."""

from typing import BinaryIO

import msgspec
from msgspec import Struct

from engine.media.clip import Reason

LENGTH_BYTES = 4


class Transcode(Struct, frozen=True, tag="transcode"):
    """Transcode the file at `path` into a clip file at `target`, of at most `max_ms`."""

    path: str
    container: str
    target: str
    max_ms: int


class Synthesize(Struct, frozen=True, tag="utter"):
    """Synthesize an English text with a neural voice."""

    text: str
    voice: str


class LoadVoice(Struct, frozen=True, tag="load"):
    """Load a neural voice, and everything that its first text needs."""

    voice: str


class JobDone(Struct, frozen=True, tag="done"):
    """The job succeeded; synthesized speech is a WAV file's bytes.

    `is_silent`: nothing is heard of what was transcoded.
    """

    wav: bytes = b""
    is_silent: bool = False


class JobFailed(Struct, frozen=True, tag="failed"):
    """The job failed."""

    reason: Reason
    text: str


Job = Transcode | Synthesize | LoadVoice
Reply = JobDone | JobFailed
jobs: msgspec.msgpack.Decoder[Job] = msgspec.msgpack.Decoder(Job)
replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def frame(message: Job | Reply) -> bytes:
    """Encode a message with its length in front."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_job(pipe: BinaryIO) -> Job | None:
    """Wait for the next job; None when the engine has closed the pipe."""
    length = pipe.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    return jobs.decode(pipe.read(int.from_bytes(length, "big")))
