"""The servers of a lab: their settings."""

from pathlib import Path

import pytest

from dev.lab.plan import Plan
from dev.lab.servers import LabApi, LabSpeech, LabStreams, servers
from dev.lab.settings import ensure_settings
from dev.pbx.node import PbxNode
from dev.phone.caller import CALLER_PORTS


@pytest.mark.parametrize(("speech", "address"), [(8096, "ws://127.0.0.1:8096"), (None, None)])
def test_a_gateway_knows_recognizers_that_there_are(
    tmp_path: Path, speech: int | None, address: str | None
) -> None:
    """Without them it says so to its callers, instead of trying to reach them."""
    found = LabStreams(tmp_path, {}, 8095, speech).environment()
    assert found.get("SWITCHROOM_STREAMS_RECOGNIZERS") == address


def test_a_developers_own_recognizers_are_used(tmp_path: Path) -> None:
    """A setting of the environment counts more than the lab's."""
    own = {"SWITCHROOM_STREAMS_RECOGNIZERS": "wss://speech.example.com"}
    found = LabStreams(tmp_path, own, 8095, 8096).environment()
    assert found["SWITCHROOM_STREAMS_RECOGNIZERS"] == "wss://speech.example.com"


def test_recognizers_start_before_who_uses_them(tmp_path: Path) -> None:
    """With the token that these have."""
    plan = Plan(port_base=21_000)
    settings = ensure_settings(tmp_path, plan, {})
    programs = [each for each in servers(tmp_path, plan, settings)
                if isinstance(each, LabSpeech | LabStreams | LabApi)]  # fmt: skip
    speech, streams, api = programs
    assert isinstance(speech, LabSpeech)
    assert speech.environment()["SWITCHROOM_SPEECH_PORT"] == "21005"
    token = settings["SWITCHROOM_SPEECH_TOKEN"]
    assert [each.environment()["SWITCHROOM_SPEECH_TOKEN"] for each in programs] == [token] * 3
    assert streams.environment()["SWITCHROOM_STREAMS_RECOGNIZERS"] == "ws://127.0.0.1:21005"
    assert api.environment()["SWITCHROOM_TRANSCRIPT_RECOGNIZERS"] == '["ws://127.0.0.1:21005"]'


@pytest.mark.parametrize("trunk", [None, "sip:carrier.example"])
def test_the_trunk_is_known_by_its_ports(tmp_path: Path, trunk: str | None) -> None:
    """Others on this machine are not the trunk; a carrier of the developer's is known as usual."""
    plan = Plan(port_base=21_000)
    settings = ensure_settings(tmp_path, plan, {"SWITCHROOM_TRUNK": trunk} if trunk else {})
    (node,) = [each for each in servers(tmp_path, plan, settings) if isinstance(each, PbxNode)]
    match = node.settings.environment().get("PBX_TRUNK_MATCH")
    ports = (plan.ports().phone, *CALLER_PORTS)
    assert match == (None if trunk else ",".join(f"127.0.0.1:{port}" for port in ports))
