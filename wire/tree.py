"""Parses and checks whole action trees, once, before they run."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

from msgspec import Meta, Struct
from msgspec.structs import fields

from wire.answer_detection import Confirm, Prompt
from wire.base import tag_of
from wire.decoding import lenient, patterns
from wire.decoding.errors import MAX_ERRORS, BadInput, raise_errors
from wire.decoding.texts import host_and_port
from wire.party import Party
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber
from wire.streams.recognizer import expected_recognizers
from wire.verbs import (
    SINGLE_LEG_VERBS,
    Action,
    AudibleVerb,
    Dial,
    DialData,
    Gather,
    GatherData,
    Stream,
    StreamData,
    Verb,
    VerbShape,
)

*_FIRST, _LAST = [tag_of(each) for each in SINGLE_LEG_VERBS]
_WHISPER_VERBS = f"{', '.join(_FIRST)} and {_LAST}"
SENSITIVE_TERMINATORS = ("", "*", "#")  # keys that are no part of sensitive digits
MAX_PARTIES = 200  # in one tree: to check a number takes as long as 50 other values
_LOOPBACK = ("http://127.0.0.1", "http://localhost", "http://[::1]")


class Limits(Struct, frozen=True):
    """Limits on a tree's size and on the addresses in it.

    Plain http only to this machine, and only if allowed; sip: addresses only on `sip_hosts`,
    because each is a call that costs money.
    """

    size_bytes: int = 65_536
    depth: int = 50
    allow_insecure: bool = False
    sip_hosts: tuple[str, ...] = ()
    recognizers: tuple[str, ...] | None = None  # that the account may name; None: all


TWILIO_RATE = 8_000
DEFAULT_LIMITS = Limits()


def parse_action(body: bytes, limits: Limits = DEFAULT_LIMITS, prefix: str = "") -> Action:
    """Decode and check one action, object or address; raises BadInput."""
    if len(body) > limits.size_bytes:
        raise BadInput(prefix, f"larger than {limits.size_bytes} bytes", "too_large")
    action: Action = lenient.decode(body, Action, prefix)
    return check_action(action, limits, prefix)


def check_action(action: Action, limits: Limits, prefix: str = "") -> Action:
    """Check what the types cannot: depth, addresses, dial targets; returns the action.

    Raises BadInput, or InputErrors for several errors.
    """
    errors: list[BadInput] = []
    parties = 0
    for path, node, depth in walk(action, prefix, 1):
        if isinstance(node, Dial):
            parties += len(_numbers(node.data))
        if parties > MAX_PARTIES:
            where = _join(path, "data.number")
            errors.append(BadInput(where, f"more than {MAX_PARTIES} numbers in all actions"))
        if parties > MAX_PARTIES or len(errors) >= MAX_ERRORS:
            break
        if depth > limits.depth:
            errors.append(BadInput(path, f"nested deeper than {limits.depth} actions", "too_deep"))
            break
        if isinstance(node, str):
            errors += _url_errors(node, limits, path)
        else:
            errors += _verb_errors(node, path, limits)
    raise_errors(errors[:MAX_ERRORS])
    return action


def walk(action: Action, path: str, depth: int = 1) -> Iterator[tuple[str, Action, int]]:
    """Yield each action of a tree with its path and depth."""
    yield path, action, depth
    if isinstance(action, str):
        return
    for step, inner in _inner_actions(action):
        if inner is not None:
            yield from walk(inner, _join(path, step), depth + 1)


def _inner_actions(verb: Verb) -> Iterator[tuple[str, Action | None]]:
    """Yield the fields of a verb that hold an action."""
    yield "action", verb.action
    if isinstance(verb, AudibleVerb):
        yield "onError", verb.on_error
    for step, part in parts_of(verb):
        if isinstance(part, VerbShape):
            yield step, part


def parts_of(verb: Verb) -> Iterator[tuple[str, Verb | Prompt]]:
    """Yield the verbs and the prompts in a verb's data, with their paths."""
    for name, step in _PARTS[type(verb.data)]:
        part = getattr(verb.data, name)
        if part is not None:
            yield step, part


def flow_ids(action: Action, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the id of each stored flow that a tree runs."""
    for where, node, _depth in walk(action, path):
        flow_id = None if isinstance(node, str) else getattr(node.data, "flow_id", None)
        if flow_id is not None:
            yield _join(where, "data.flowId"), flow_id


def _verb_errors(verb: Verb, path: str, limits: Limits) -> Iterator[BadInput]:
    where = _join(path, "data")
    yield from _data_errors(verb.data, where, limits)
    for step, part in parts_of(verb):
        if isinstance(part, Prompt):
            yield from _data_errors(part, _join(path, step), limits)
    match verb:
        case Gather(data=data):
            yield from _speech_errors(data, where, limits.recognizers)
            if data.sensitive:
                yield from _sensitive_errors(verb, path)
        case Dial(data=data):
            yield from _dial_errors(data, where, limits)
        case Stream(data=data):
            yield from _stream_errors(data, where, limits)
        case _:
            pass


def _data_errors(data: Any, path: str, limits: Limits) -> Iterator[BadInput]:
    """Yield the faults of a prompt, and of all addresses but those of streams."""
    if isinstance(data, Prompt) and data.audio_url is not None and data.text is not None:
        yield BadInput(f"{path}.text", "not together with audioUrl")
    for name, step in _ADDRESSES[type(data)]:
        urls = getattr(data, name) or ()
        if isinstance(urls, str):
            yield from _url_errors(urls, limits, f"{path}.{step}")
        else:
            for index, url in enumerate(urls):
                yield from _url_errors(url, limits, f"{path}.{step}[{index}]")


def _speech_errors(
    data: GatherData, path: str, allowed: tuple[str, ...] | None
) -> Iterator[BadInput]:
    if len(set(data.input)) < len(data.input):
        yield BadInput(f"{path}.input", "each of digits and speech once")
    if data.hears_speech and data.sensitive:
        yield BadInput(f"{path}.input", "digits only, of a sensitive gather")
    if data.hints and not data.hears_speech:
        yield BadInput(f"{path}.hints", "only with speech in input")
    if data.hears_speech and allowed is not None and data.recognizer not in allowed:
        yield BadInput(
            f"{path}.recognizer", expected_recognizers(allowed), "recognizer_not_allowed"
        )


def _sensitive_errors(gather: Gather, path: str) -> Iterator[BadInput]:
    """Yield what would tell sensitive digits to anything but the gather's webhook."""
    if not isinstance(gather.action, str):
        text = "the address of a webhook is required, which gets the sensitive digits"
        yield BadInput(_join(path, "action"), text)
    if gather.data.terminator not in SENSITIVE_TERMINATORS:
        yield BadInput(_join(path, "data.terminator"), 'of sensitive digits: "#", "*" or ""')


def _dial_errors(data: DialData, path: str, limits: Limits) -> Iterator[BadInput]:
    if (data.number or data.agent_id) is None and data.flow_id is None:
        yield BadInput(path, "one of number, agent_id or flowId is required")
    if data.number is not None and data.flow_id is not None:
        yield BadInput(f"{path}.flowId", "not together with number")
    is_agent = data.number is None and data.flow_id is None and data.agent_id is not None
    if is_agent and not re.search(patterns.NAME, data.agent_id or ""):
        yield BadInput(f"{path}.agent_id", f"expected {patterns.PATTERNS[patterns.NAME]}")
    for number, index in _numbers(data):
        yield from _party_errors(number, limits, _join(path, index))
    if data.whisper is not None:
        yield from _whisper_errors(data.whisper, f"{path}.whisper")


def _whisper_errors(whisper: Verb, path: str) -> Iterator[BadInput]:
    """Yield where a whisper redirects the call or fetches an action."""
    for where, node, _depth in walk(whisper, path, 1):
        if not isinstance(node, SINGLE_LEG_VERBS):
            yield BadInput(where, f"one of {_WHISPER_VERBS} is required, as an object")
        elif isinstance(node, Gather) and node.data.channel_id is not None:
            yield BadInput(f"{where}.data.channelId", "not in a whisper")
        elif isinstance(node, Gather) and node.data.hears_speech:
            yield BadInput(f"{where}.data.input", "digits only, in a whisper")


def check_party(party: str, limits: Limits, path: str) -> None:
    """Check that a number is possible, and that a sip: address names a host; raises BadInput."""
    raise_errors(list(_party_errors(party, limits, path)))


def _party_errors(party: str, limits: Limits, path: str) -> Iterator[BadInput]:
    parsed = Party.parse(party)
    if parsed.kind == "sip" and parsed.host not in limits.sip_hosts:
        allowed = ", ".join(limits.sip_hosts) or "none"
        yield BadInput(path, f"the host is not allowed; allowed hosts: {allowed}", "sip_host")
    yield from number_errors(party, path)


def number_errors(party: str, path: str) -> Iterator[BadInput]:
    """Yield that a number with a country code has no length that its country's numbers have."""
    if party.startswith("+"):
        try:
            e164(party, None)
        except InvalidNumber:
            yield BadInput(path, f"{party} can't be a phone number (E.164)", "impossible_number")


def check_url(url: str, limits: Limits, path: str) -> None:
    """Check an address's host and port, and its https:// or this machine; raises BadInput."""
    raise_errors(list(_url_errors(url, limits, path)))


def _url_errors(url: str, limits: Limits, path: str) -> Iterator[BadInput]:
    is_allowed = url.startswith("https://") or (limits.allow_insecure and _is_loopback(url))
    if not is_allowed:
        yield BadInput(path, "an https:// address is required", "insecure_url")
    else:
        yield from _host_errors(url, path)


def _host_errors(url: str, path: str) -> Iterator[BadInput]:
    try:
        host_and_port(url, path)
    except BadInput as error:
        yield error


def check_stream(data: StreamData, limits: Limits) -> None:
    """Check the address and the settings of a stream; raises BadInput or InputErrors."""
    raise_errors(list(_stream_errors(data, "", limits)))


def _stream_errors(data: StreamData, path: str, limits: Limits) -> Iterator[BadInput]:
    as_web = f"http{data.url.removeprefix('ws')}"  # the same rule as for other addresses
    if not as_web.startswith("https://") and not (limits.allow_insecure and _is_loopback(as_web)):
        yield BadInput(_join(path, "url"), "a wss:// address is required", "insecure_url")
    else:
        yield from _host_errors(as_web, _join(path, "url"))
    if data.protocol == "twilio" and data.rate != TWILIO_RATE:
        yield BadInput(_join(path, "rate"), f"{TWILIO_RATE} with protocol twilio")
    if data.fork and data.barge_in != "off":
        yield BadInput(_join(path, "bargeIn"), "not of a fork, which is not heard")
    if not data.fork and data.track != "both":
        yield BadInput(_join(path, "track"), "only of a fork")


def _numbers(data: DialData) -> list[tuple[str, str]]:
    if data.number is None or isinstance(data.number, str):
        return [(data.number, "number")] if data.number else []
    return [(number, f"number[{index}]") for index, number in enumerate(data.number)]


def _is_loopback(url: str) -> bool:
    return any(url == base or url.startswith((f"{base}:", f"{base}/")) for base in _LOOPBACK)


def _join(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step


def _is_part(kind: Any) -> bool:
    """Return whether a field may hold a verb or a prompt."""
    if isinstance(kind, type):
        return issubclass(kind, VerbShape | Prompt)
    return any(map(_is_part, get_args(kind)))


def _is_address(kind: Any) -> bool:
    marks = getattr(kind, "__metadata__", ())
    is_url = any(isinstance(each, Meta) and each.pattern == patterns.URL for each in marks)
    return is_url or any(map(_is_address, get_args(kind)))


_DATA = {each.type for verb in get_args(Verb) for each in fields(verb) if each.name == "data"}
# The fields that hold verbs and prompts, and addresses: (attribute, path in the verb or the data).
_PARTS: Mapping[type, tuple[tuple[str, str], ...]] = {
    data: tuple(
        (each.name, f"data.{each.encode_name}") for each in fields(data) if _is_part(each.type)
    )
    for data in _DATA
}
_ADDRESSES: Mapping[type, tuple[tuple[str, str], ...]] = {
    data: tuple((each.name, each.encode_name) for each in fields(data) if _is_address(each.type))
    for data in (*_DATA, Confirm)
}
