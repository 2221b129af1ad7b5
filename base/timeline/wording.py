"""Texts for causes, mute directions, verbs, media sources and durations."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from base.hangup_causes import CAUSES

_MAX_LENGTH = 60
_OK = 200
_DIRECTIONS = {"in": "inbound", "out": "outbound", "both": "both directions"}
_DIAL_REJECTIONS = {
    "not_allowed": "the dial policy does not allow it (not_allowed)",
    "number_without_country": "it has no country code (number_without_country)",
    "do_not_call": "it is on the do-not-call list (do_not_call)",
    "terms_unknown": "the dial policy is not available (terms_unknown)",
    "unavailable": "its phone is not registered, or not known to the PBX (unavailable)",
}


def cause(number: int, sip_code: int = 0) -> str:
    """Describe a hangup cause and its SIP status."""
    name = CAUSES.get(number, "cause")
    return f"{name} ({number}, SIP {sip_code})" if sip_code else f"{name} ({number})"


def dial_rejection(reason: str) -> str:
    return _DIAL_REJECTIONS.get(reason, reason)


def mute_direction(direction: str) -> str:
    return _DIRECTIONS.get(direction, direction)


def seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s"


def shorten(text: str) -> str:
    """Shorten a text to one line."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_LENGTH else f"{text[: _MAX_LENGTH - 1]}…"


def host(url: str) -> str:
    return urlsplit(url).netloc or url


def sources(given: list[Mapping[str, Any]]) -> str:
    return ", then ".join(_source(each) for each in given)


def action(given: Any) -> str:
    """Summarize the first verb of an action tree."""
    match given:
        case None:
            return "no action"
        case str(url):
            return f"webhook {shorten(url)}"
        case {"type": verb}:
            return f"{verb} {_object(given.get('data') or {})}".rstrip()
        case _:
            return shorten(str(given))


def tries(given: Any) -> str:
    """Describe the duration of a response, or of all attempts if there were several."""
    attempts = [f"{status or 'no response'} in {ms} ms" for ms, status in given]
    plain = len(given) == 1 and given[0][1] == _OK
    return (
        f" in {given[0][0]} ms" if plain else f" ({', then '.join(attempts)})" if attempts else ""
    )


def values(given: Mapping[str, Any]) -> str:
    """Describe variables and their values."""
    texts = {name: "null" if each is None else str(each) for name, each in given.items()}
    return ", ".join(f"{name} = {shorten(each)}" for name, each in texts.items()) or "no values"


def _object(data: Mapping[str, Any]) -> str:
    match data:
        case {"text": text}:
            return f"“{shorten(text)}”"
        case {"audioUrl": str(url)}:
            return f"{shorten(url)}{_rounds(data)}"
        case {"audioUrl": [*urls]}:
            return f"{len(urls)} sounds{_rounds(data)}"
        case {"length": length_s}:
            return f"of {seconds(length_s * 1000)}"
        case {"url": str(party)} | {"number": str(party)}:
            return shorten(party)
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


def _rounds(data: Mapping[str, Any]) -> str:
    return f", {data['loop']} times" if data.get("loop", 1) > 1 else ""


def _source(source: Mapping[str, Any]) -> str:
    match source:
        case {"text": text}:
            return f"say “{shorten(text)}”"
        case {"url": url}:
            return f"play {shorten(url)}"
        case _:
            return "play"
