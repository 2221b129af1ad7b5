"""The process that reads a file of contacts: asked by a line of JSON, answers by frames of msgpack.

A file comes from anybody. Whatever it does to its reader, it does to this process alone: which has
an end in time and memory, and no business with the rest.
"""

import resource
import struct
import sys

import msgspec

from api.contacts.imports.reader.batches import batches
from api.contacts.imports.reader.messages import Failed, Given, Unreadable, Wanted
from api.contacts.imports.reader.open import look

MOST_MEMORY = 2 << 30
MOST_CPU_S = 600
TOO_MUCH = "it takes more memory than a file of contacts may"


def main() -> None:
    """Do what is asked for, and end."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    asked = sys.stdin.buffer.read()
    try:
        if sys.argv[1] == "look":
            _tell(look(msgspec.json.decode(asked, type=Given)))
            return
        for batch in batches(msgspec.json.decode(asked, type=Wanted)):
            _tell(batch)
        _tell(None)
    except Unreadable as error:
        _tell(Failed(str(error)))
    except MemoryError:
        _tell(Failed(TOO_MUCH))


def _tell(frame: object) -> None:
    body = msgspec.msgpack.encode(frame)
    sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
    sys.stdout.buffer.flush()


main()
