"""The timeline shows each event, command and state of a call, or omits it on purpose."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from base import timeline
from base.timeline import commands
from base.timeline.timers import TIMEOUTS
from base.timeline.wording import action
from cli.timeline import outcome
from engine.calls.model.causes import EndedBy
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.states import STATES
from wire.base import tag_of
from wire.verbs import Verb

# These have no row: what follows from them has one.
SILENT_EVENTS = {"call-opened", "leg-created", "voicemail-ended"}
SILENT_COMMANDS = {
    "dial",
    "prefetch-media",
    "reset-converter",
    "start-voicemail",
    "stop-voicemail",
}
# The data of each verb, and how the timeline describes it.
VERBS: dict[str, tuple[dict[str, Any], str]] = {
    "play": ({"audioUrl": "https://a"}, "play https://a"),
    "say": ({"text": "hi"}, "say “hi”"),
    "gather": ({"maxDigits": 4}, "gather up to 4 digits"),
    "record": ({}, "record"),
    "pause": ({"length": 2.5}, "pause of 2.5 s"),
    "stream": ({"url": "wss://a.example/b"}, "stream wss://a.example/b"),
    "dial": ({"number": "+1555"}, "dial +1555"),
    "flow": ({"flowId": "f"}, "flow flow f"),
    "redirect": ({"url": "https://a"}, "redirect https://a"),
    "hangup": ({}, "hangup"),
}


def _shown() -> Iterator[str]:
    """Yield the types that the patterns of the package name."""
    for path in Path(str(timeline.__file__)).parent.glob("*.py"):
        for pattern in ast.walk(ast.parse(path.read_text())):
            if isinstance(pattern, ast.MatchMapping):
                for key, each in zip(pattern.keys, pattern.patterns, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "type":
                        yield from _texts(each)


def _texts(pattern: ast.pattern) -> Iterator[str]:
    for each in ast.walk(pattern):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _tags(union: Any) -> set[str]:
    return set(map(tag_of, get_args(union)))


def test_events() -> None:
    assert _tags(Event) - set(_shown()) == SILENT_EVENTS


def test_commands() -> None:
    assert _tags(Command) - set(_shown()) - set(commands.SOUNDS) == SILENT_COMMANDS


def test_timeouts() -> None:
    """Each state that waits has a deadline, and the timeline names it."""
    assert set(TIMEOUTS) == set(map(tag_of, STATES)) - {"advance", "ended"}


def test_verbs() -> None:
    assert set(VERBS) == _tags(Verb)
    for verb, (data, text) in VERBS.items():
        assert action({"type": verb, "data": data}) == text


def test_ends() -> None:
    """Each way in which a call ends has a text."""
    assert {"", *outcome.ENDED_BY} == set(get_args(EndedBy))
