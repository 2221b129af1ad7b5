"""One call of the simulated PBX: what it tells the engine, and what it does when asked.

No SIP, no media: a prompt lasts as long as told, then the caller presses digits, one after another.
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
    """How a caller behaves, and how many prompts make the call whole.

    Lengths in seconds; each wait is longer by up to half, at random: calls don't march in step.
    """

    number: str = "+15550701"
    digits: str = "1234"
    prompts: int = 2
    prompt_s: float = 0.1
    digit_s: float = 0.02


class CallEnd(Struct, frozen=True):
    """How a call went: whether all was heard, and how long from there to the hangup.

    `answered`: its channel, if the engine did that.
    `webhook_ms`: from the last digit's event to the webhook that is told it, where there is one.
    """

    is_whole: bool
    silence_ms: float
    webhook_ms: float | None = None
    answered: str = ""


class SimulatedCall:
    """One channel in a Stasis app."""

    def __init__(
        self, app: str, channel: str, script: Script, tell: Send, ended: Callable[[CallEnd], None]
    ) -> None:
        self._script = script
        self._send = tell
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._app = app
        self._prompts = 0
        self._heard_s = 0.0
        self._pressed_s = 0.0
        self._webhook_ms: float | None = None
        self._left = list(script.digits)
        self.channel: dict[str, Any] = _channel(app, channel, script.number)

    def enter(self) -> None:
        """Come in from the dialplan."""
        self._send_event("StasisStart", args=["inbound", self._script.number], channel=self.channel)

    def answer(self) -> None:
        """Be answered."""
        self.channel["state"] = "Up"
        self._send_event("ChannelStateChange", channel=self.channel)

    def play(self, playback: dict[str, Any]) -> None:
        """Hear a prompt to its end."""
        self._later(self._script.prompt_s, self._heard, playback)

    def hang_up(self) -> None:
        """Be hung up by the engine, or hang up."""
        self._send_event("StasisEnd", channel=self.channel)
        self._send_event(
            "ChannelDestroyed", cause=16, cause_txt="Normal Clearing", channel=self.channel
        )
        is_whole = self._prompts == self._script.prompts
        silence_ms = (time.monotonic() - self._heard_s) * 1000
        answered = str(self.channel["id"]) if self.channel["state"] == "Up" else ""
        self._ended(CallEnd(is_whole, silence_ms, self._webhook_ms, answered))

    def on_webhook(self, at_s: float) -> None:
        """Note when the webhook came that is about its digits; monotonic seconds."""
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

    def _send_event(self, kind: str, **facts: Any) -> None:
        event = {"type": kind, "timestamp": _timestamp(), **facts}
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
