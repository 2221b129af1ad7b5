"""The process that reads a file of contacts: JSON on stdin, frames of msgpack on stdout.

Files are untrusted. An attack on a parser reaches this process alone, which is limited in time and
memory.
"""

import resource
import struct
import sys

import msgspec

from api.contacts.imports.reader.batches import batches
from api.contacts.imports.reader.messages import FileHints, ReadFailed, ReadRequest, UnreadableFile
from api.contacts.imports.reader.open import inspect_file

MAX_MEMORY_BYTES = 2 << 30
MAX_CPU_S = 600
OUT_OF_MEMORY = "it takes more memory than a file of contacts may"


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = sys.stdin.buffer.read()
    try:
        if sys.argv[1] == "inspect":
            _send(inspect_file(msgspec.json.decode(request, type=FileHints)))
            return
        for batch in batches(msgspec.json.decode(request, type=ReadRequest)):
            _send(batch)
        _send(None)
    except UnreadableFile as error:
        _send(ReadFailed(str(error)))
    except MemoryError:
        _send(ReadFailed(OUT_OF_MEMORY))


def _send(frame: object) -> None:
    body = msgspec.msgpack.encode(frame)
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


main()
