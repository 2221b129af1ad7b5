"""One call of the simulated PBX: sends ARI events and reacts to requests.

There is no SIP and no media: a prompt takes a scripted time, then the caller presses digits.
"""

import asyncio
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.json import encode

Send = Callable[[bytes], None]


class Script(Struct, frozen=True):
    """Behaviour of a caller, and the number of prompts of a whole call.

    Waits are in seconds; each is longer by up to half at random, so that calls do not synchronise.
    """

    number: str = "+15550701"
    digits: str = "1234"
    prompts: int = 2
    prompt_s: float = 0.1
    digit_s: float = 0.02


class CallEnd(Struct, frozen=True):
    """Result of a call: whether all prompts played, and the time from the last one to the hangup.

    `answered`: its channel, if the engine answered it.
    `webhook_ms`: from the event of the last digit to the webhook about it, if there is one.
    """

    is_whole: bool
    silence_ms: float
    webhook_ms: float | None = None
    answered: str = ""


class SimulatedCall:
    """One channel in a Stasis app."""

    def __init__(
        self, app: str, channel: str, script: Script, send: Send, on_end: Callable[[CallEnd], None]
    ) -> None:
        self._script = script
        self._send = send
        self._ended = on_end
        self._loop = asyncio.get_running_loop()
        self._app = app
        self._prompts = 0
        self._heard_s = 0.0
        self._pressed_s = 0.0
        self._webhook_ms: float | None = None
        self._left = list(script.digits)
        self.channel: dict[str, Any] = _channel(app, channel, script.number)

    def enter(self) -> None:
        """Enter the Stasis app, as from the dialplan."""
        self._send_event("StasisStart", args=["inbound", self._script.number], channel=self.channel)

    def answer(self) -> None:
        """Become answered."""
        self.channel["state"] = "Up"
        self._send_event("ChannelStateChange", channel=self.channel)

    def play(self, playback: dict[str, Any]) -> None:
        """Play a prompt to its end."""
        self._later(self._script.prompt_s, self._heard, playback)

    def hang_up(self) -> None:
        """End the call, hung up by either side."""
        self._send_event("StasisEnd", channel=self.channel)
        self._send_event(
            "ChannelDestroyed", cause=16, cause_txt="Normal Clearing", channel=self.channel
        )
        is_whole = self._prompts == self._script.prompts
        silence_ms = (time.monotonic() - self._heard_s) * 1000
        answered = str(self.channel["id"]) if self.channel["state"] == "Up" else ""
        self._ended(CallEnd(is_whole, silence_ms, self._webhook_ms, answered))

    def on_webhook(self, at_s: float) -> None:
        """Record when the webhook about its digits arrived, in monotonic seconds."""
        self._webhook_ms = (at_s - self._pressed_s) * 1000

    def _later(self, wait_s: float, do: Callable[..., None], *about: Any) -> None:
        self._loop.call_later(wait_s * (1 + random.random() / 2), do, *about)

    def _heard(self, playback: dict[str, Any]) -> None:
        self._prompts += 1
        self._heard_s = time.monotonic()
        self._send_event("PlaybackFinished", playback={**playback, "state": "done"})
        if self._left:
            self._later(self._script.digit_s, self._press)

    def _press(self) -> None:
        digit = self._left.pop(0)
        self._pressed_s = time.monotonic()
        self._send_event("ChannelDtmfReceived", digit=digit, duration_ms=80, channel=self.channel)
        if self._left:
            self._later(self._script.digit_s, self._press)

    def _send_event(self, kind: str, **fields: Any) -> None:
        event = {"type": kind, "timestamp": _timestamp(), **fields}
        event |= {"asterisk_id": "00:00:00:00:00:00", "application": self._app}
        self._send(encode(event))


def _channel(app: str, channel: str, number: str) -> dict[str, Any]:
    return {
        "id": channel,
        "name": f"PJSIP/trunk-{channel}",
        "state": "Ring",
        "protocol_id": f"{channel}@127.0.0.1",
        "caller": {"name": "", "number": "+15550001"},
        "connected": {"name": "", "number": ""},
        "accountcode": "",
        "dialplan": {
            "context": "slots",
            "exten": number,
            "priority": 3,
            "app_name": "Stasis",
            "app_data": f"{app},inbound,{number}",
        },
        "creationtime": _timestamp(),
        "language": "en",
    }


def _timestamp() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "+0000")
