"""Parses and checks whole action trees, once, before they run."""

from collections.abc import Iterator
from typing import get_args

import msgspec
from msgspec import Struct

from wire.answer_detection import Prompt
from wire.base import tag_of
from wire.errors import BadInput, from_decoder
from wire.party import Party
from wire.verbs import (
    SINGLE_LEG_VERBS,
    Action,
    Dial,
    DialData,
    Flow,
    Gather,
    Hangup,
    Pause,
    Play,
    PlayData,
    Record,
    Say,
    Verb,
)

VERBS = tuple(map(tag_of, get_args(Verb)))
_decoder: msgspec.json.Decoder[Action] = msgspec.json.Decoder(Action)
*_FIRST, _LAST = [tag_of(each) for each in SINGLE_LEG_VERBS]
_WHISPER_VERBS = f"{', '.join(_FIRST)} and {_LAST}"
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


DEFAULT_LIMITS = Limits()


def parse_action(body: bytes, limits: Limits = DEFAULT_LIMITS, prefix: str = "") -> Action:
    """Decode and check one action, object or address; raises BadInput."""
    if len(body) > limits.size_bytes:
        raise BadInput(prefix, f"larger than {limits.size_bytes} bytes", "too_large")
    try:
        action = _decoder.decode(body)
    except RecursionError:
        raise BadInput(prefix, f"nested deeper than {limits.depth} actions", "too_deep") from None
    except msgspec.DecodeError as error:
        raise _explained(from_decoder(error, prefix, Action, body)) from None
    except UnicodeDecodeError:
        raise BadInput(prefix, "not UTF-8") from None
    return check_action(action, limits, prefix)


def check_action(action: Action, limits: Limits, prefix: str = "") -> Action:
    """Check what the types cannot: depth, addresses, dial targets; returns the action."""
    for path, node, depth in walk(action, prefix, 1):
        if depth > limits.depth:
            raise BadInput(path, f"nested deeper than {limits.depth} actions", "too_deep")
        if isinstance(node, str):
            check_url(node, limits, path)
        else:
            _check_verb(node, path, limits)
    return action


def walk(action: Action, path: str, depth: int = 1) -> Iterator[tuple[str, Action, int]]:
    """Yield each action of a tree with its path and depth."""
    yield path, action, depth
    if isinstance(action, str):
        return
    if action.action is not None:
        yield from walk(action.action, _join(path, "action"), depth + 1)
    if isinstance(action, Play | Say | Gather | Record) and action.on_error is not None:
        yield from walk(action.on_error, _join(path, "onError"), depth + 1)
    if isinstance(action, Gather) and action.data.fallback is not None:
        yield from walk(action.data.fallback, _join(path, "data.fallback"), depth + 1)
    if isinstance(action, Dial) and action.data.whisper is not None:
        yield from walk(action.data.whisper, _join(path, "data.whisper"), depth + 1)


def _check_verb(verb: Verb, path: str, limits: Limits) -> None:
    match verb:
        case Play(data=data):
            for url, where in _audio(data):
                check_url(url, limits, _join(path, where))
        case Gather(data=data) | Record(data=data):
            _check_prompt(data, _join(path, "data"), limits)
        case Dial(data=data):
            _check_dial(data, _join(path, "data"), limits)
        case Say() | Pause() | Flow() | Hangup():
            pass


def _check_dial(data: DialData, path: str, limits: Limits) -> None:
    if (data.number or data.agent_id) is None and data.flow_id is None:
        raise BadInput(path, "one of number, agent_id or flowId is required")
    if data.number is not None and data.flow_id is not None:
        raise BadInput(f"{path}.flowId", "not together with number")
    for number, index in _numbers(data):
        check_party(number, limits, _join(path, index))
    if data.confirm is not None:
        _check_prompt(data.confirm, f"{path}.confirm", limits)
    if data.whisper is not None:
        _check_whisper(data.whisper, f"{path}.whisper")


def _check_whisper(whisper: Verb, path: str) -> None:
    """Check that a whisper neither redirects the call nor fetches an action."""
    for where, node, _depth in walk(whisper, path, 1):
        if not isinstance(node, SINGLE_LEG_VERBS):
            raise BadInput(where, f"one of {_WHISPER_VERBS} is required, as an object")
        if isinstance(node, Gather) and node.data.channel_id is not None:
            raise BadInput(f"{where}.data.channelId", "not in a whisper")


def _check_prompt(data: Prompt, path: str, limits: Limits) -> None:
    if data.audio_url is not None and data.text is not None:
        raise BadInput(f"{path}.text", "not together with audioUrl")
    if data.audio_url is not None:
        check_url(data.audio_url, limits, f"{path}.audioUrl")


def check_party(party: str, limits: Limits, path: str) -> None:
    """Check that a sip: address names an allowed host; raises BadInput."""
    if Party.parse(party).kind != "sip":
        return
    host = party.rpartition("@")[2].partition(":")[0].lower()
    if host not in limits.sip_hosts:
        allowed = ", ".join(limits.sip_hosts) or "none"
        raise BadInput(path, f"sip: address on a host that is not allowed ({allowed})", "sip_host")


def check_url(url: str, limits: Limits, path: str) -> None:
    """Check that an address is https://, or if allowed on this machine; raises BadInput."""
    if url.startswith("https://"):
        return
    if not limits.allow_insecure or not _is_loopback(url):
        raise BadInput(path, "an https:// address is required", "insecure_url")


def _numbers(data: DialData) -> list[tuple[str, str]]:
    if data.number is None or isinstance(data.number, str):
        return [(data.number, "number")] if data.number else []
    return [(number, f"number[{index}]") for index, number in enumerate(data.number)]


def _audio(data: PlayData) -> list[tuple[str, str]]:
    if isinstance(data.audio_url, str):
        return [(data.audio_url, "data.audioUrl")]
    return [(url, f"data.audioUrl[{index}]") for index, url in enumerate(data.audio_url)]


def _is_loopback(url: str) -> bool:
    return any(url == base or url.startswith((f"{base}:", f"{base}/")) for base in _LOOPBACK)


def _explained(error: BadInput) -> BadInput:
    if error.message.startswith("Invalid value") and error.path.endswith("type"):
        return BadInput(error.path, f"{error.message}; one of {', '.join(VERBS)}", "unknown_verb")
    return error


def _join(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step
