"""jambonz' `listen` becomes the verb `stream`: a conversation, or a fork in other verbs."""

from typing import Any

import pytest

from cli.convert.context import Context
from tests.unit.cli.convert.jambonz.conversion import HELLO, NEXT, SAY, converted, lost, run

BOT = "wss://bot.example.com/call"
DATA: dict[str, Any] = {"url": BOT, "protocol": "jambonz", "rate": 8_000}
TARGET = [{"type": "phone", "number": "+4722222222"}]


def listen(**fields: Any) -> dict[str, Any]:
    return {"verb": "listen", "url": BOT, "passDtmf": True, **fields}


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({}, DATA),
        ({"verb": "stream"}, DATA),
        ({"sampleRate": 16_000, "mixType": "mono"}, {**DATA, "rate": 16_000}),
        ({"maxLength": 60}, {**DATA, "maxDuration": 60}),
        (
            {"metadata": {"plan": "gold", "order": 7}},
            {**DATA, "parameters": {"plan": "gold", "order": "7"}},
        ),
        ({"bidirectionalAudio": {"enabled": True, "sampleRate": 8_000}}, DATA),
    ],
)
def test_a_bot_is_connected(fields: dict[str, Any], data: dict[str, Any]) -> None:
    """What follows runs when it closes its websocket."""
    tree = converted(listen(**fields), HELLO)
    assert tree == {"type": "stream", "data": data, "action": SAY}


def test_the_hook_of_a_listen_is_requested() -> None:
    """With the result of the stream."""
    assert converted(listen(actionHook=NEXT))["action"] == NEXT


def test_a_relative_address_is_one_of_a_websocket() -> None:
    """On the server of the document."""
    at_home = Context(base_url="https://example.com/app")
    tree = converted(listen(url="/bot"), context=at_home)
    assert tree["data"]["url"] == "wss://example.com/bot"


@pytest.mark.parametrize(
    ("mix_type", "track"),
    [(None, "caller"), ("mono", "caller"), ("mixed", "both"), ("stereo", "both")],
)
def test_a_config_starts_a_fork(mix_type: str | None, track: str) -> None:
    """The tree goes on at once."""
    fields = {"enable": True, "url": BOT} | ({"mixType": mix_type} if mix_type else {})
    tree = converted({"verb": "config", "listen": fields}, HELLO)
    data = {**DATA, "fork": True, "track": track}
    assert tree == {"type": "stream", "data": data, "action": SAY}


def test_a_dial_is_forked() -> None:
    """From before it until the call ends, which is noted."""
    found = run([{"verb": "dial", "target": TARGET, "listen": {"url": BOT}}])
    assert isinstance(found.action, dict)
    assert (found.action["type"], found.action["data"]["fork"]) == ("stream", True)
    assert found.action["action"]["type"] == "dial"
    assert any("until the call ends" in each.text for each in found.remarks)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"passDtmf": False}, "the bot gets each digit"),
        ({"disableBidirectionalAudio": True}, "what the bot sends is heard"),
        ({"metadata": {"a": 1}}, "become JSON"),
    ],
)
def test_a_difference_is_noted(fields: dict[str, Any], text: str) -> None:
    """And is no loss."""
    found = run([listen(**fields)])
    assert found.is_complete
    assert any(text in each.text for each in found.remarks), found.remarks


@pytest.mark.parametrize(
    ("verb", "text"),
    [
        (listen(url=""), "an absolute wss:// address is required"),
        (listen(url=NEXT), "an absolute wss:// address is required"),
        (listen(url="/bot"), "--base-url completes it"),
        (listen(sampleRate=48_000), "48000; 24000 is used"),
        (listen(sampleRate="high"), "'high'; 8000 is used"),
        (listen(bidirectionalAudio={"sampleRate": 16_000}), "both directions have 8000"),
        (listen(mixType="stereo"), "a bot that talks hears the caller"),
        (listen(mixType="loud"), "mono, mixed, stereo are expected"),
        (listen(metadata=1), "metadata: an object is expected"),
        (listen(metadata={f"n{each}": "a" for each in range(33)}), "data.parameters"),
        (listen(wsAuth={"username": "a"}), "the handshake is signed"),
        (listen(finishOnKey="#"), "digits go to the bot"),
        (listen(playBeep=True), "a beep"),
        (listen(transcribe={}), "transcripts"),
        ({"verb": "config", "listen": {"enable": False}}, "ends a fork"),
        ({"verb": "config", "listen": {"enable": True}}, "config.listen url: an absolute wss://"),
    ],
)
def test_a_loss_is_named(verb: dict[str, Any], text: str) -> None:
    """With what to use instead."""
    found = lost(verb)
    assert any(text in each for each in found), found
