"""Texts that the platform writes into records, events and logs: they name no person.

A short number may equal the digits of any of them: +45 20 26 11 30 those of 2026-11-30. Ids that
customers choose are not among them.
"""

import re

from wire.phone_numbers.written_number import is_date

MEASURE = "Ms"  # ends the names of times and durations
# Other names of numbers that the platform writes (a test compares them with the shapes).
COUNTS = frozenset(
    {"timestamp", "duration", "answeredDuration", "recordingDuration", "version"}
    | {"sequenceNumber", "legsOmitted", "slot", "turns", "resumes", "bargeIns", "confidence"}
    | {"hangupCause", "sipCode"}
)
_OWN_NAMES = frozenset(  # of texts, in lower case
    {"engine", "traceparent", "webhook-id", "webhook-timestamp", "webhook-signature"}
)

_HEX = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[0-9]{0,31}[a-f])[0-9a-f]{16,32}"
_CALL = r"[0-9]{1,3}-[a-z0-9]{1,16}-[0-9a-f]{23}"  # with the tail that engines generate
_PART = r"(?:[.\-~][a-z]*[0-9]{1,15}(?![0-9]))*"
_CLOCK = r"[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{3,9})?)?"
_ZONE = r"(?:Z|[+\-][0-9]{2}:?[0-9]{2})?"
_HTTP_DAY = r"[0-9]{2} [A-Z][a-z]{2} [0-9]{4} "  # RFC 9110, section 5.6.7
_MS = r"1[5-9][0-9]{11}"  # from 2017 to 2033; no number has this form
_ASTERISK = r"1[5-9][0-9]{8}\.[0-9]{0,9}[1-9][0-9]{0,9}"  # the id of a channel: seconds, counter
_IP = r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}"
_IP6 = r"\[[0-9A-Fa-f:.]{2,45}\]"
_OWN = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_CALL}{_PART}|{_HEX})(?![A-Za-z0-9])"
    rf"|(?<![0-9:])(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[T ]|{_HTTP_DAY})?{_CLOCK}{_ZONE}(?![0-9:])"
    r"|(?<![0-9])[0-9]{8}T[0-9]{6}Z"
    rf"|(?<![0-9])(?:{_ASTERISK}|{_MS}(?:-[0-9]{{1,20}})?)(?![0-9])"
    rf"|(?:@|\b(?:http|ws|grpc)s?://)(?:{_IP}|{_IP6})(?::[0-9]{{1,5}})?(?![0-9])"
    rf"|(?<![0-9.])(?:{_IP}|{_IP6}):[0-9]{{2,5}}(?![0-9])"
    r'|\bengine\\?"\s*:\s*\\?"[A-Za-z0-9.\-]*'
    rf'|\b(?:[a-z][A-Za-z]{{0,60}}{MEASURE}|{"|".join(sorted(COUNTS))})\\?"\s*:\s*[0-9.]+'
)
_DAY = re.compile(r"(?<![0-9])([0-9]{1,4})([\-./_:]|\. )([0-9]{1,2})\2([0-9]{1,4})(?![0-9])")
_CODE_BEFORE = re.compile(r"(?:\+|(?<![0-9])00)[\s(]*[0-9]{1,3}[\s).\-/]*\Z")
_MAX_CODE = 12  # characters of a country's code and what separates it
_RECORDING = re.compile(
    r"[a-z][a-z0-9+]*://[^\s?#]*/[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"/[0-9]{1,3}-[a-z0-9]{1,16}-[A-Za-z0-9_]{8,64}(?:\.v[0-9]{1,6})?\.wav"
)
_ENGINE = re.compile(r"[a-z][a-z0-9.\-]*-[0-9a-f]{6}-[0-9]{1,7}")  # host, random digits, process
_GAP = "#"  # separates no digits of a number


def without_own(text: str) -> str:
    """Return a text without dates, times and what else the platform writes."""
    if _RECORDING.fullmatch(text) or _ENGINE.fullmatch(text):
        return ""
    return _DAY.sub(_without_date, _OWN.sub(_GAP, text))


def is_own(name: object, value: object) -> bool:
    """Return whether a field is a time, a duration or a count, or names an engine or a request."""
    if not isinstance(name, str):
        return False
    if isinstance(value, int | float):
        return name.endswith(MEASURE) or name in COUNTS
    return name.lower() in _OWN_NAMES


def _without_date(found: re.Match[str]) -> str:
    """Return a gap for a date; behind a country's code, its groups are those of a number."""
    before = found.string[max(0, found.start() - _MAX_CODE) : found.start()]
    written = f"{found[1]}-{found[3]}-{found[4]}"
    return found[0] if not is_date(written) or _CODE_BEFORE.search(before) else _GAP
