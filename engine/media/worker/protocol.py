"""What the engine asks of a worker process, what it answers, and how both travel."""

from typing import BinaryIO

import msgspec
from msgspec import Struct

from engine.media.clip import Reason

LENGTH_BYTES = 4


class Transcode(Struct, frozen=True, tag="transcode"):
    """Make a clip's file at `target` from the file at `path`, at most `longest_ms` of it."""

    path: str
    container: str
    target: str
    longest_ms: int


class Synthesize(Struct, frozen=True, tag="utter"):
    """Speak an English text in one of the neural voices."""

    text: str
    voice: str


class JobDone(Struct, frozen=True, tag="done"):
    """The job is done; what was spoken comes as a WAV file's bytes."""

    wav: bytes = b""


class JobFailed(Struct, frozen=True, tag="failed"):
    """The job could not be done."""

    reason: Reason
    text: str


Job = Transcode | Synthesize
Reply = JobDone | JobFailed
jobs: msgspec.msgpack.Decoder[Job] = msgspec.msgpack.Decoder(Job)
replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def frame(message: Job | Reply) -> bytes:
    """Encode a message with its length before it."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


def read_job(pipe: BinaryIO) -> Job | None:
    """Wait for the next job; None when the engine has closed the pipe."""
    length = pipe.read(LENGTH_BYTES)
    if len(length) < LENGTH_BYTES:
        return None
    return jobs.decode(pipe.read(int.from_bytes(length, "big")))
