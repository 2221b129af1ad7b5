"""whisper, confirm and machineDetection: accepted values, and the path of each error."""

import json
from typing import Any

import msgspec
import pytest

from wire.answer_detection import Confirm, Detection, MachineDetection, detection_settings
from wire.decoding.errors import BadInput
from wire.rpc import Originate
from wire.tree import parse_action
from wire.verbs import Dial, Say

HTTPS = "https://example.com/a"
SAY = {"type": "say", "data": {"text": "Sales?"}}
CALL = {"account": "acme", "from": "+4711", "to": "+4712"}


def dial(**data: Any) -> dict[str, Any]:
    """Dial an agent."""
    return {"type": "dial", "data": {"agent_id": "7", **data}}


def parsed(tree: Any) -> Any:
    """Parse a tree as an originate's action."""
    return parse_action(json.dumps(tree).encode(), prefix="action")


def test_a_dial_with_screening() -> None:
    """All three, with their own or default settings."""
    found = parsed(
        dial(
            whisper=SAY,
            confirm={"digit": "5", "text": "Press five.", "timeout": 3000},
            machineDetection={"greeting": 2000, "onMachine": "hangup"},
        )
    )
    assert isinstance(found, Dial)
    assert isinstance(found.data.whisper, Say)
    assert found.data.confirm == Confirm(text="Press five.", digit="5", timeout=3000)
    assert found.data.machine_detection == MachineDetection(greeting=2000, on_machine="hangup")
    usual = parsed(dial(confirm={}, machineDetection=True)).data
    assert (usual.confirm.digit, usual.confirm.timeout) == ("1", 10_000)
    assert detection_settings(usual.machine_detection) == Detection(True, 4_000, 2_500, 1_500, 800)


def test_how_to_listen() -> None:
    """Settings without the action on a machine; none when it is off."""
    assert detection_settings(MachineDetection(timeout=9_000, on_machine="hangup")) == Detection(
        True, 9_000
    )
    assert detection_settings(MachineDetection(enable=False)) is None
    assert detection_settings(False) is None


PLAYS = "one of play, say and gather"
FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"whisper": HTTPS}, "whisper", "expected an object or null"),
    ({"whisper": dial()}, "whisper", PLAYS),
    ({"whisper": {"type": "hangup"}}, "whisper", PLAYS),
    ({"whisper": {"type": "pause", "data": {"length": 1}}}, "whisper", PLAYS),
    ({"whisper": {**SAY, "action": HTTPS}}, "whisper.action", PLAYS),
    ({"whisper": {**SAY, "action": {"type": "flow", "data": {"flowId": "f"}}}}, "whisper.action",
     PLAYS),
    ({"whisper": {"type": "gather", "data": {"fallback": dial()}}}, "whisper.data.fallback", PLAYS),
    ({"whisper": {"type": "gather", "data": {"channelId": "x"}}}, "whisper.data.channelId",
     "not in a whisper"),
    ({"whisper": {"type": "play", "data": {"audioUrl": "http://a.b/"}}}, "whisper.data.audioUrl",
     "https://"),
    ({"confirm": {"digit": "12"}}, "confirm.digit", "one key"),
    ({"confirm": {"audioUrl": "http://a.b/"}}, "confirm.audioUrl", "https://"),
    ({"confirm": {"audioUrl": HTTPS, "text": "x"}}, "confirm.text", "not together with audioUrl"),
    ({"confirm": {"timeout": 1}}, "confirm.timeout", "at least 500"),
    ({"machineDetection": {"onMachine": HTTPS}}, "machineDetection.onMachine", "invalid value"),
    ({"machineDetection": {"timeout": 99}}, "machineDetection.timeout", "at least 100"),
    ({"machineDetection": {"speed": 1}}, "machineDetection.speed", "unknown field"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "path", "message"), FAULTS)
def test_an_error_has_its_path(data: dict[str, Any], path: str, message: str) -> None:
    """Verbs that redirect the call, and impossible ones, are rejected."""
    with pytest.raises(BadInput) as caught:
        parsed(dial(**data))
    assert caught.value.path == f"action.data.{path}"
    assert message in caught.value.message


def test_a_gather_speaks_its_prompt() -> None:
    """gather.data: text instead of audioUrl, not beside it."""
    assert parsed({"type": "gather", "data": {"text": "Your number?"}}).data.text == "Your number?"
    with pytest.raises(BadInput) as caught:
        parsed({"type": "gather", "data": {"text": "x", "audioUrl": HTTPS}})
    assert caught.value.path == "action.data.text"


@pytest.mark.parametrize("on_machine", ["continue", "hangup", HTTPS, SAY])
def test_what_a_call_does_about_a_machine(on_machine: Any) -> None:
    """Continue, hangup, or an action: an object or an address."""
    request = msgspec.convert({**CALL, "machineDetection": {"onMachine": on_machine}}, Originate)
    assert not isinstance(request.machine_detection, bool)
    found = request.machine_detection.on_machine
    assert isinstance(found, Say) if on_machine is SAY else found == on_machine


@pytest.mark.parametrize("on_machine", ["stop", "continues", "hangup\n", ""])
def test_other_words_about_a_machine(on_machine: str) -> None:
    """Other values are rejected."""
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({**CALL, "machineDetection": {"onMachine": on_machine}}, Originate)
