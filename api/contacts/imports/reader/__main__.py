"""The process that reads a file of contacts: asked by a line of JSON, answers by frames of msgpack.

A file comes from anybody. Whatever it does to its reader, it does to this process alone: which has
an end in time and memory, and no business with the rest.
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
TOO_MUCH = "it takes more memory than a file of contacts may"


def main() -> None:
    """Do what is asked for, and end."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_S, MAX_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = sys.stdin.buffer.read()
    try:
        if sys.argv[1] == "look":
            _tell(inspect_file(msgspec.json.decode(asked, type=FileHints)))
            return
        for batch in batches(msgspec.json.decode(asked, type=ReadRequest)):
            _tell(batch)
        _tell(None)
    except UnreadableFile as error:
        _tell(ReadFailed(str(error)))
    except MemoryError:
        _tell(ReadFailed(TOO_MUCH))


def _tell(frame: object) -> None:
    body = msgspec.msgpack.encode(frame)
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


main()
