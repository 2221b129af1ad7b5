"""Lua scripts as commands: by digest, or with their source for a server without them."""

from hashlib import sha1
from pathlib import Path


class LuaScript:
    """A script with one key and one argument."""

    def __init__(self, source: str) -> None:
        text = source.encode()
        digest = sha1(text, usedforsecurity=False).hexdigest().encode()
        self._by_digest = b"*5\r\n$7\r\nEVALSHA\r\n$40\r\n%b\r\n$1\r\n1\r\n" % digest
        self._with_source = b"*5\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n$1\r\n1\r\n" % (len(text), text)

    def command(self, key: str, argument: bytes, *, with_source: bool) -> bytes:
        """Return the command that runs it, encoded in RESP2."""
        name = key.encode()
        head = self._with_source if with_source else self._by_digest
        return b"%b$%d\r\n%b\r\n$%d\r\n%b\r\n" % (head, len(name), name, len(argument), argument)


def load_script(*names: str) -> LuaScript:
    """Load a script from one file, or from several concatenated ones."""
    return LuaScript(
        "".join((Path(__file__).parent / f"lua/{name}.lua").read_text() for name in names)
    )
