"""What gateways send by mistake: each stream ends with a clear error, and harms no other."""

import asyncio
import json
import os
import signal
from pathlib import Path

import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from tests.contract.speech.voices import Voices, silence
from tests.contract.speech.workers import children
from tests.harness.servers.speech_process import SpeechProcess
from tests.harness.speech.gateway import raw_stream, stream
from tests.harness.until import until


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ("no JSON", "no JSON"),
        ("[]", "object"),
        ('{"type":"stop"}', "must be `start`"),
        ('{"type":"begin"}', "begin"),
        ('{"type":"start","rate":44100}', "$.rate"),
        ('{"type":"start","silenceMs":1}', "$.silenceMs"),
        ('{"type":"start","maxMs":10000000}', "$.maxMs"),
        ('{"type":"start","language":"english please"}', "$.language"),
        ('{"type":"start","hints":["yes",""]}', "$.hints"),
        ('{"type":"start","hints":["' + "a" * 101 + '"]}', "$.hints"),
        ('{"type":"start","colour":"red"}', "colour"),
        (json.dumps({"type": "start", "hints": ["yes"] * 1001}), "$.hints"),
    ],
)
async def test_an_invalid_start(speech: SpeechProcess, first: str, text: str) -> None:
    """The error names the field, and the stream closes."""
    async with raw_stream(speech) as opened:
        await opened.send(first)
        error = await opened.expect("error")
        assert error["code"] == "invalid-start"
        assert text in error["message"]
        assert await opened.expect_close() == 1008


async def test_audio_before_the_start(speech: SpeechProcess) -> None:
    """Without a start nothing is recognized."""
    async with raw_stream(speech) as opened:
        await opened.send_audio(silence(20))
        assert (await opened.expect("error"))["code"] == "invalid-start"


@pytest.mark.parametrize(
    ("hints", "code"),
    [
        (["§§§"], "invalid-hint"),
        (["$amount"], "invalid-hint"),
        ([" ".join(["yes"] * 21)], "invalid-hint"),
        (["xqzptlfoo"], "unknown-words"),
    ],
)
async def test_hints_that_no_one_can_say(
    speech: SpeechProcess, hints: list[str], code: str
) -> None:
    """The error names the hint, or its words."""
    async with stream(speech, hints=hints) as opened:
        assert (await opened.expect("error"))["code"] == code
        assert await opened.expect_close() == 1008


async def test_hints_are_no_grammar(speech: SpeechProcess, voices: Voices) -> None:
    """Signs of JSGF in hints mean nothing: the texts are not part of the grammar."""
    hints = ["billing ; public <x> = sales", "yes | no", "<VOID>", "{tag} support /10/", "no*"]
    async with stream(speech, hints=hints, silenceMs=300) as opened:
        await opened.send_audio(silence(300), await voices.say("sales"), silence(600))
        assert (await opened.expect("final"))["text"] not in {"sales", "yes", "no"}
    async with stream(speech, hints=["\u0000\u202ebilling\n", "yes | no"]) as opened:
        await opened.expect("ready")


async def test_a_thousand_hints(speech: SpeechProcess, voices: Voices) -> None:
    """As many are allowed, and one of them is understood."""
    hints = [f"option {number}" for number in range(999)]
    async with stream(speech, hints=[*hints, "billing"], silenceMs=300) as opened:
        await opened.expect("ready")
        await opened.send_audio(silence(300), await voices.say("billing"), silence(600))
        assert (await opened.expect("final"))["text"] == "billing"


async def test_a_wrong_language(speech: SpeechProcess) -> None:
    """The error names the languages that there are."""
    async with stream(speech, language="nb-NO") as opened:
        error = await opened.expect("error")
        assert error["code"] == "unsupported-language"
        assert "en" in error["message"]


@pytest.mark.parametrize("message", [b"\x01", b"\x00" * 48_002])
async def test_no_audio(speech: SpeechProcess, message: bytes) -> None:
    """Half a sample, and more than a second at once, are none."""
    async with stream(speech) as opened:
        await opened.send_bytes(message)
        assert (await opened.expect("error"))["code"] == "invalid-message"


async def test_junk_is_noise(speech: SpeechProcess) -> None:
    """Random bytes of an even number may be audio: the stream survives them."""
    junk = bytes(range(256)) * 200
    async with stream(speech, silenceMs=300) as opened:
        await opened.send_audio(junk, silence(600))
        await opened.send({"type": "stop"})
        assert await opened.expect_close() == 1000


async def test_a_huge_message(speech: SpeechProcess) -> None:
    """It closes the stream before it is read."""
    async with raw_stream(speech) as opened:
        await opened.send("x" * 300_000)
        assert await opened.expect_close() == 1009


async def test_a_second_start(speech: SpeechProcess) -> None:
    """A stream has one start."""
    async with stream(speech) as opened:
        await opened.send({"type": "start"})
        assert (await opened.expect("error"))["code"] == "invalid-message"


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [("grammar", "", 401), ("grammar", "wrong", 401), ("telepathy", None, 404)],
)
async def test_no_access(speech: SpeechProcess, path: str, token: str | None, status: int) -> None:
    """A stream needs the token, and a recognizer that is there."""
    given = speech.token if token is None else token
    headers = {"Authorization": f"Bearer {given}"} if given else {}
    async with ClientSession(headers=headers) as http:
        with pytest.raises(WSServerHandshakeError) as error:
            await http.ws_connect(f"{speech.url}/recognizers/{path}")
        assert error.value.status == status
        async with http.get(f"{speech.url}/recognizers") as response:
            assert response.status == (200 if token is None else 401)
        async with http.get(f"{speech.url}/recognizers/grammar") as response:
            assert response.status in {400, 401}


async def test_a_token_of_odd_bytes_is_wrong(speech: SpeechProcess) -> None:
    """Bytes that are not UTF-8 are a wrong token, not an internal error."""
    reader, writer = await asyncio.open_connection("127.0.0.1", speech.port)
    head = b"GET /recognizers HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    writer.write(head + b"Authorization: Bearer \xff\xfe\r\n\r\n")
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    assert answer.startswith(b"HTTP/1.1 401")


async def test_many_streams(speech: SpeechProcess, voices: Voices) -> None:
    """Twenty callers who speak at once are all understood, in one process."""
    audio = silence(300) + await voices.say("billing") + silence(600)

    async def call() -> str:
        async with stream(speech, hints=["sales", "billing"], silenceMs=300) as opened:
            await opened.send_in_time(audio)
            return str((await opened.expect("final"))["text"])

    assert await asyncio.gather(*(call() for _ in range(20))) == ["billing"] * 20


async def test_a_gateway_that_leaves(tmp_path: Path, voices: Voices) -> None:
    """Streams that break off in the middle of a word free their places: there is only one."""
    audio = silence(100) + await voices.say("billing")
    async with SpeechProcess(tmp_path / "one", SWITCHROOM_SPEECH_STREAMS="1") as speech:

        async def is_accepted() -> bool:
            async with stream(speech, hints=["billing"]) as opened:
                is_ready: bool = (await opened.next())["type"] == "ready"
                await opened.send_audio(audio)
                return is_ready

        for _ in range(3):
            await until(is_accepted, what="the only place to be free")


async def test_a_gateway_that_is_killed(own_speech: SpeechProcess, voices: Voices) -> None:
    """A busy server hears its last word, and has nobody for what it understands."""
    audio = silence(100) + await voices.say("billing") + silence(600)
    for _ in range(5):
        async with stream(own_speech, hints=["billing"], silenceMs=300) as opened:
            await opened.expect("ready")
            os.kill(own_speech.pid, signal.SIGSTOP)
            await opened.send_audio(audio)
            opened.break_off()
            os.kill(own_speech.pid, signal.SIGCONT)
    async with stream(own_speech, hints=["billing"], silenceMs=300) as opened:
        await opened.send_audio(audio)
        assert (await opened.expect("final"))["text"] == "billing"
    await own_speech.stop()
    assert "Traceback" not in own_speech.log.read_text()


async def test_a_slow_reader(speech: SpeechProcess, voices: Voices) -> None:
    """A gateway that reads nothing does not keep others from being understood."""
    audio = silence(100) + await voices.say("billing") + silence(400)
    async with stream(speech, hints=["billing"], silenceMs=200, interim=True) as slow:
        await slow.send_audio(*[audio] * 3)
        async with stream(speech, hints=["billing"], silenceMs=300) as opened:
            await opened.send_audio(audio)
            assert (await opened.expect("final"))["text"] == "billing"


async def test_a_worker_that_dies(own_speech: SpeechProcess, voices: Voices) -> None:
    """Its streams end with an error; the next stream gets another one."""
    audio = silence(100) + await voices.say("billing")
    async with stream(own_speech, hints=["billing"], silenceMs=300) as opened:
        await opened.expect("ready")
        for pid in children(own_speech.pid):
            os.kill(pid, signal.SIGKILL)
        await opened.send_in_time(audio + silence(600))
        error = await opened.expect("error")
        assert error["code"] == "failed"
        assert await opened.expect_close() == 1011

    async def is_understood() -> bool:
        async with stream(own_speech, hints=["billing"], silenceMs=300) as again:
            await again.send_audio(audio, silence(600))
            return bool((await again.expect("final"))["text"] == "billing")

    await until(is_understood, what="another worker")
