"""Gateways whose settings name recognizers, or none, or the wrong token."""

import secrets
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.contract.speech.voices import Voices, silence
from tests.contract.streams.recognition.conftest import Listening, say
from tests.harness.servers.speech_process import SpeechProcess, gateway_settings
from tests.harness.servers.tls_files import TlsFiles
from tests.harness.streams.gateway import GatewayClient, GatewayProcess
from tests.harness.streams.simulated_pbx import SimulatedPbx

MENU = ["sales", "support"]
AT_ONCE = {"SWITCHROOM_STREAMS_DRAIN_S": "0"}  # it ends without waiting for its streams


async def test_a_gateway_without_recognizers(tmp_path: Path, pbx: SimulatedPbx) -> None:
    """It says so, with the name of the setting; no attempt will change that."""
    async with GatewayProcess(tmp_path) as gateway:
        client = GatewayClient(gateway.url)
        await client.read()
        name, channel = await Listening(client, pbx).start()
        ended = await client.wait_for(name, "ended")
        await channel.is_closed.wait()
        _, found = await client.request("GET", "/recognizers")
        await client.close()
    assert found["error"] == "SWITCHROOM_STREAMS_RECOGNIZERS is not set"
    assert ended["reason"] == "bot-closed"
    assert "this gateway has no recognizers" in ended["detail"]
    assert "SWITCHROOM_STREAMS_RECOGNIZERS" in ended["detail"]


async def test_another_token(
    tmp_path: Path, pbx: SimulatedPbx, shared_speech: SpeechProcess
) -> None:
    """During a change of the token: another attempt may succeed."""
    settings = gateway_settings(shared_speech)
    settings["SWITCHROOM_SPEECH_TOKEN"] = secrets.token_urlsafe(32)
    async with GatewayProcess(tmp_path, **settings) as gateway:
        client = GatewayClient(gateway.url)
        await client.read()
        name, _ = await Listening(client, pbx).start()
        ended = await client.wait_for(name, "ended")
        _, found = await client.request("GET", "/recognizers")
        await client.close()
    assert found["error"].endswith("/recognizers: HTTP 401")
    assert ended["reason"] == "bot-lost"
    assert "HTTP 401" in ended["detail"]
    assert "SWITCHROOM_SPEECH_TOKEN" in ended["detail"]


async def test_recognizers_over_tls(tmp_path: Path, pbx: SimulatedPbx, voices: Voices) -> None:
    """Their CA is that of the PBX nodes."""
    files = TlsFiles(tmp_path / "tls", ["speech"])
    speech = SpeechProcess(
        tmp_path / "speech",
        SWITCHROOM_SPEECH_TLS_CERT=str(files.cert("speech")),
        SWITCHROOM_SPEECH_TLS_KEY=str(files.key("speech")),
    )
    speech.url = speech.url.replace("http", "https", 1)
    speech.trust = files.trust
    known = gateway_settings(speech) | AT_ONCE
    async with (
        speech,
        GatewayProcess(tmp_path / "trusting", **known, SWITCHROOM_TLS_CA=str(files.ca)) as trusting,
        GatewayProcess(tmp_path / "other", **known) as other,
    ):
        clients = [GatewayClient(each.url) for each in (trusting, other)]
        for client in clients:
            await client.read()
        name, channel = await Listening(clients[0], pbx).start(hints=MENU, silenceMs=300)
        say(channel, silence(300), await voices.say("sales"), silence(600))
        assert (await clients[0].wait_for(name, "transcript"))["text"] == "sales"
        name, _ = await Listening(clients[1], pbx).start()
        ended = await clients[1].wait_for(name, "ended")
        known_to = [(await each.request("GET", "/recognizers"))[1] for each in clients]
        for client in clients:
            await client.close()
    assert ended["reason"] == "unreachable"
    assert "certificate" in ended["detail"].lower()
    assert "grammar" in [each["name"] for each in known_to[0]["recognizers"]]
    assert known_to[1]["error"].startswith(known["SWITCHROOM_STREAMS_RECOGNIZERS"])


async def test_recognizers_that_are_killed(
    tmp_path: Path, pbx: SimulatedPbx, voices: Voices
) -> None:
    """The stream is lost at once; another one works as soon as they are back."""
    speech = await SpeechProcess(tmp_path / "speech").start()
    async with GatewayProcess(
        tmp_path / "gateway", **gateway_settings(speech), **AT_ONCE
    ) as gateway:
        client = GatewayClient(gateway.url)
        await client.read()
        listening = Listening(client, pbx)
        name, _ = await listening.start(hints=MENU, silenceMs=300)
        await client.wait_for(name, "connected")
        await speech.kill()
        assert (await client.wait_for(name, "ended"))["reason"] == "bot-lost"
        await speech.start()
        name, channel = await listening.start(hints=MENU, silenceMs=300)
        say(channel, silence(300), await voices.say("support"), silence(600))
        assert (await client.wait_for(name, "transcript"))["text"] == "support"
        await client.close()
    await speech.stop()


async def test_the_metrics_page(
    shared_gateway: GatewayProcess, listening: Listening, engine: GatewayClient, voices: Voices
) -> None:
    """It counts utterances, and knows no words."""
    name, channel = await listening.start(hints=MENU, silenceMs=300)
    say(channel, silence(300), await voices.say("support"), silence(600))
    await engine.wait_for(name, "transcript")
    async with ClientSession() as http, http.get(shared_gateway.url + "/metrics") as response:
        page = await response.text()
    assert 'switchroom_streams_started_total{protocol="recognizer"}' in page
    assert 'switchroom_stream_utterances_total{result="understood"}' in page
    assert "switchroom_stream_transcript_seconds_count" in page
    assert "support" not in page
    log = shared_gateway.log.read_text()
    assert "support" not in log


async def test_an_invalid_address(tmp_path: Path) -> None:
    """The gateway does not start, and names the setting."""
    settings = {
        "SWITCHROOM_STREAMS_RECOGNIZERS": "http://127.0.0.1:8096",
        "SWITCHROOM_SPEECH_TOKEN": secrets.token_urlsafe(32),
    }
    with pytest.raises(RuntimeError, match="SWITCHROOM_STREAMS_RECOGNIZERS"):
        await GatewayProcess(tmp_path, **settings).start()
