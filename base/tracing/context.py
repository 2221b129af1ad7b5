"""Trace context headers of strangers (W3C): what is not of their form is dropped.

OpenTelemetry would write each wrong one to the log as it came, up to 8 KB for one request.
"""

import re
from collections.abc import Mapping

PARENT, STATE = "traceparent", "tracestate"
MAX_STATE_LENGTH = 512  # what each program has to pass on
_PARENT = re.compile(r"[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[\x21-\x7e]{0,64})?")
_KEY = r"(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
_MEMBER = re.compile(
    rf"({_KEY})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]"
)


def context_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that have the form of the standard."""
    parent, state = headers.get(PARENT, ""), headers.get(STATE, "")
    if not _PARENT.fullmatch(parent):
        return {}
    return {PARENT: parent} | ({STATE: state} if _is_state(state) else {})


def _is_state(text: str) -> bool:
    """Return whether a list has members of different names only."""
    if not text or len(text) > MAX_STATE_LENGTH:
        return False
    found = [_MEMBER.fullmatch(each) for each in re.split(r"[ \t]*,[ \t]*", text) if each]
    names = {each[1] for each in found if each}
    return bool(found) and len(names) == len(found)
