"""The process that reads a file of contacts: JSON on stdin, frames of msgpack on stdout.

Files are untrusted. An attack on a parser reaches this process alone, which is limited in time,
memory and files, and has no network, no other file and no secret.
"""

import struct
import sys
from pathlib import Path
from typing import TypeVar

import msgspec

from api.contacts.imports.reader.batches import batches
from api.contacts.imports.reader.messages import (
    OUT_OF_MEMORY,
    FileHints,
    ReadFailed,
    ReadRequest,
    UnreadableFile,
)
from api.contacts.imports.reader.open import inspect_file
from base.sandbox import ResourceLimits, restrict, set_limits

MAX_MEMORY_BYTES = 2 << 30
MAX_CPU_S = {"inspect": 60, "batches": 600}
MAX_OPEN_FILES = 64
Request = TypeVar("Request", FileHints, ReadRequest)


def main() -> None:
    command = sys.argv[1]
    set_limits(ResourceLimits(MAX_MEMORY_BYTES, 0, MAX_OPEN_FILES, MAX_CPU_S[command]))
    request = sys.stdin.buffer.read()
    try:
        if command == "inspect":
            _send(inspect_file(_decode(request, FileHints)))
            return
        for batch in batches(_decode(request, ReadRequest)):
            _send(batch)
        _send(None)
    except UnreadableFile as error:
        _send(ReadFailed(str(error)))
    except MemoryError:
        _send(ReadFailed(OUT_OF_MEMORY))


def _decode(body: bytes, shape: type[Request]) -> Request:
    """Decode the request, and allow this process no more than its file."""
    request = msgspec.json.decode(body, type=shape)
    restrict(readable=[Path(request.path)])
    return request


def _send(frame: object) -> None:
    body = msgspec.msgpack.encode(frame)
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


main()
