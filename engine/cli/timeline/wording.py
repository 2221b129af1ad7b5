"""How things of a call are worded: causes, verbs, sources, durations."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

# ITU-T Q.850, table 1, in the words that telephone people use.
CAUSES = {
    0: "lost",
    1: "unallocated number",
    3: "no route",
    16: "normal clearing",
    17: "user busy",
    18: "no user responding",
    19: "no answer",
    20: "subscriber absent",
    21: "call rejected",
    22: "number changed",
    27: "destination out of order",
    28: "invalid number format",
    31: "normal, unspecified",
    34: "no circuit available",
    38: "network out of order",
    41: "temporary failure",
    42: "congestion",
    44: "channel unavailable",
    47: "resource unavailable",
    57: "bearer capability not authorized",
    58: "bearer capability not available",
    65: "bearer capability not implemented",
    88: "incompatible destination",
    102: "recovery on timer expiry",
    111: "protocol error",
    127: "interworking",
}
_LONGEST = 60
_OK = 200
_MUTED = {"in": "nobody hears it", "out": "it hears nobody", "both": "neither way"}
_REFUSALS = {
    "not_allowed": "the account may not call there (not_allowed)",
    "do_not_call": "it is on the account's do-not-call list (do_not_call)",
    "terms_unknown": "what the account may call is not known now (terms_unknown)",
}
_UNMUTED = {"in": "it is heard", "out": "it hears", "both": "both ways"}


def cause(number: int, sip_code: int = 0) -> str:
    """Name a hangup cause, with the SIP status that came with it."""
    name = CAUSES.get(number, "cause")
    return f"{name} ({number}, SIP {sip_code})" if sip_code else f"{name} ({number})"


def dial_rejection(reason: str) -> str:
    """Tell why a party may not be called."""
    return _REFUSALS.get(reason, reason)


def mute_direction(direction: str) -> str:
    """Tell what a mute in a direction does."""
    return _MUTED.get(direction, direction)


def unmuted(direction: str) -> str:
    """Tell what it means that a mute ends."""
    return _UNMUTED.get(direction, direction)


def seconds(milliseconds: float) -> str:
    """Tell a duration."""
    return f"{milliseconds / 1000:.1f} s"


def shorten(text: str) -> str:
    """Shorten a text that would fill the screen."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def host(url: str) -> str:
    """Name an address's server."""
    return urlsplit(url).netloc or url


def sources(given: list[Mapping[str, Any]]) -> str:
    """Tell what is to be heard."""
    return ", then ".join(_source(each) for each in given)


def action(given: Any) -> str:
    """Tell an action tree's first verb in a few words."""
    match given:
        case None:
            return "nothing more"
        case str(url):
            return f"ask {shorten(url)}"
        case {"type": verb}:
            return f"{verb} {_object(given.get('data') or {})}".rstrip()
        case _:
            return shorten(str(given))


def tries(given: Any) -> str:
    """Tell how long an answer took, and the tries that it took if they were several."""
    told = [f"{status or 'no answer'} in {ms} ms" for ms, status in given]
    plain = len(given) == 1 and given[0][1] == _OK
    return f" in {given[0][0]} ms" if plain else f" ({', then '.join(told)})" if told else ""


def _object(data: Mapping[str, Any]) -> str:
    match data:
        case {"text": text}:
            return f"“{shorten(text)}”"
        case {"audioUrl": str(url)}:
            return shorten(url)
        case {"number": str(number)}:
            return number
        case {"number": [*numbers]}:
            return ", ".join(numbers)
        case {"agent_id": agent}:
            return f"agent {agent}"
        case {"flowId": flow}:
            return f"flow {flow}"
        case {"maxDigits": digits}:
            return f"up to {digits} digits"
        case _:
            return ""


def _source(source: Mapping[str, Any]) -> str:
    match source:
        case {"text": text}:
            return f"say “{shorten(text)}”"
        case {"url": url}:
            return f"play {shorten(url)}"
        case _:
            return "play"
