"""The part of a file that a request asks for (RFC 9110, section 14)."""

import re

_ONE = re.compile(r"bytes=\s*(?:([0-9]{1,18})-([0-9]{0,18})|-([0-9]{1,18}))\s*", re.IGNORECASE)


class Unsatisfiable(Exception):
    """The range has no byte of the file."""


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """Return the first byte of a part, and the one behind it; None: all of the file is sent.

    A header that is not understood is ignored (section 14.2), and so are several ranges. Raises
    Unsatisfiable, also for the last zero bytes (section 14.1.2).
    """
    found = _ONE.fullmatch(header)
    if found is None:
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        start, stop = max(0, size - int(suffix)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
        if last and int(last) < start:
            return None  # section 14.1.1: it is invalid
    if start >= stop:
        raise Unsatisfiable
    return start, stop
