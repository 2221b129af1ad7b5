"""The bare application serves the standard call with four requests."""

import json
from collections.abc import AsyncIterator
from typing import Any

from msgspec import Struct

from tests.harness.until import until
from tools.bench.ivr.bare_application import BareApplication, Requests

CHANNEL = {"id": "pbx1-1.2", "state": "Up"}
ANSWER = ("POST", "channels/pbx1-1.2/answer")
FIRST = ("POST", "channels/pbx1-1.2/play/pbx1-1.2-first?media=sound:http://a/media/first.wav")
SECOND = ("POST", "channels/pbx1-1.2/play/pbx1-1.2-second?media=sound:http://a/media/second.wav")
HANGUP = ("DELETE", "channels/pbx1-1.2")


class _Message(Struct):
    data: str


class _Websocket:
    """Delivers events, and keeps what is sent."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self._events = events
        self.sent: list[tuple[str, str]] = []

    async def __aiter__(self) -> AsyncIterator[_Message]:
        for event in self._events:
            yield _Message(json.dumps(event))

    async def send_str(self, text: str) -> None:
        request = json.loads(text)
        assert request["type"] == "RESTRequest"
        self.sent.append((request["method"], request["uri"]))


def _of_channel(kind: str, **more: str) -> dict[str, Any]:
    return {"type": kind, "channel": CHANNEL, **more}


def _finished(prompt: str) -> dict[str, Any]:
    return {"type": "PlaybackFinished", "playback": {"id": f"pbx1-1.2-{prompt}"}}


ANSWERED = (_of_channel("StasisStart"), _of_channel("ChannelStateChange"))
DIGITS = tuple(_of_channel("ChannelDtmfReceived", digit=each) for each in "1234")
ENDED = (_finished("second"), _of_channel("StasisEnd"))


async def _requests_for(
    *events: dict[str, Any], count: int = 0, digit_timeout_s: float = 60.0
) -> list[tuple[str, str]]:
    """Return the requests; waits until there are `count`."""
    requests = _Websocket()
    application = BareApplication(Requests(requests), "http://a", digit_timeout_s)
    await application.read_events(_Websocket(*events))
    await until(lambda: len(requests.sent) >= count, what="the requests")
    return requests.sent


async def test_the_standard_call() -> None:
    """Answer, first prompt, second prompt after the fourth digit, hangup after its end."""
    events = (*ANSWERED, _finished("first"), *DIGITS, *ENDED)
    assert await _requests_for(*events) == [ANSWER, FIRST, SECOND, HANGUP]


async def test_digits_that_do_not_come() -> None:
    """The second prompt follows the timeout after the first one."""
    events = (*ANSWERED, _finished("first"), *DIGITS[:3])
    found = await _requests_for(*events, count=3, digit_timeout_s=0.01)
    assert found == [ANSWER, FIRST, SECOND]


async def test_digits_before_the_end_of_the_prompt() -> None:
    """The second prompt is not played again when the first one ends after the digits."""
    events = (*ANSWERED, *DIGITS, _finished("first"), *ENDED)
    assert await _requests_for(*events) == [ANSWER, FIRST, SECOND, HANGUP]


async def test_a_caller_who_hangs_up() -> None:
    """Nothing is requested for a channel that has left."""
    events = (*ANSWERED, _of_channel("StasisEnd"), _finished("first"), *DIGITS)
    assert await _requests_for(*events) == [ANSWER, FIRST]
