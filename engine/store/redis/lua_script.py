"""Lua scripts as they are asked for: by digest, or whole for a server that does not have them."""

from hashlib import sha1
from pathlib import Path


class LuaScript:
    """A script of one key and one argument."""

    def __init__(self, source: str) -> None:
        text = source.encode()
        digest = sha1(text, usedforsecurity=False).hexdigest().encode()
        self._by_digest = b"*5\r\n$7\r\nEVALSHA\r\n$40\r\n%b\r\n$1\r\n1\r\n" % digest
        self._whole = b"*5\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n$1\r\n1\r\n" % (len(text), text)

    def command(self, key: str, argument: bytes, *, whole: bool) -> bytes:
        """Give the command that runs it, as it goes over the wire (RESP2)."""
        name = key.encode()
        head = self._whole if whole else self._by_digest
        return b"%b$%d\r\n%b\r\n$%d\r\n%b\r\n" % (head, len(name), name, len(argument), argument)


def load_script(*names: str) -> LuaScript:
    """Read a script, made of one file or of several, one after another."""
    return LuaScript(
        "".join((Path(__file__).parent / f"lua/{name}.lua").read_text() for name in names)
    )
