"""Messages on real calls: how each ends, the content of the file, and the reported result."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.phones.recording_file import LEFT, RecordingFile
from tests.harness.until import until

BEEP_HZ = 1000
VOICE_HZ = 400
NO_TIMEOUTS = {"silence": 0, "maxLength": 600}


class MessageCall:
    """A caller who leaves a message: the call id, the phone and the results."""

    def __init__(self, lab: Lab, hooks: WebhookServer, call: str, caller: Phone) -> None:
        self.caller = caller
        self.call = call
        self.lab = lab
        self._hooks = hooks

    async def wait_recording(self) -> None:
        await self.lab.wait_for_state(self.call, "recording")

    async def result(self) -> dict[str, Any]:
        """Return the result that the nested action gets; the event contains the same."""
        request = dict((await self._hooks.wait_for_request("/after")).body)
        result = await self.lab.engine.wait_for_event(self.call, "recorded")
        assert (request["event"], request["recordingPurpose"]) == ("record", "voicemail")
        assert (result["reason"], result["recordingUrl"]) == (
            request["reason"],
            request["recordingUrl"],
        )
        assert result["recordingPurpose"] == "voicemail"
        return request

    async def message(self) -> RecordingFile:
        """Wait until the message is archived and return its file."""
        url = (await self.lab.engine.wait_for_event(self.call, "recorded"))["recordingUrl"]
        path = Path(url.removeprefix("file://"))
        await until(path.exists, what=f"{path} to be archived")
        found = RecordingFile(path)
        assert found.channels == 1
        return found


@pytest.fixture
def hooks_after(hooks: WebhookServer) -> WebhookServer:
    """Script the nested action, which ends the call."""
    hooks.answers("/after", {"type": "hangup"})
    return hooks


@asynccontextmanager
async def open_mailbox(
    lab: Lab, hooks: WebhookServer, tone_hz: int = VOICE_HZ, **data: object
) -> AsyncIterator[MessageCall]:
    """Call a number that records."""
    action = {"type": "record", "data": data, "action": hooks.url("/after")}
    async with Phone.calling(lab.pbx, await lab.add_number(action), tone_hz=tone_hz) as caller:
        yield MessageCall(lab, hooks, await lab.wait_for_call(), caller)


async def test_a_key_ends_a_message(lab: Lab, hooks_after: WebhookServer) -> None:
    """The message contains neither prompt nor beep nor the key."""
    async with open_mailbox(lab, hooks_after, text="Leave a message.", **NO_TIMEOUTS) as box:
        await box.wait_recording()
        beep = box.caller.tones_heard(BEEP_HZ)
        assert sum(each.length_ms for each in beep) == approx(250, abs=80)
        speech = [
            each for each in box.caller.sound_spans() if each.end_ms <= beep[-1].start_ms + 20
        ]
        assert speech, "the prompt plays first"
        await box.caller.wait_spoken(1_000)
        await box.caller.press("#", hold_ms=200)
        result = await box.result()
        found = await box.message()
        await box.caller.wait_ended()
    assert result["reason"] == "terminator"
    assert result["duration"] == round(found.length_ms / 1000)
    assert 900 <= found.length_ms <= box.caller.spoken_ms
    assert found.heard_ms(LEFT, BEEP_HZ) == 0
    assert found.heard_ms(LEFT, VOICE_HZ) >= 800


async def test_another_key_ends_a_message(lab: Lab, hooks_after: WebhookServer) -> None:
    """The terminator can be a key that Asterisk does not support; # is then ignored."""
    async with open_mailbox(lab, hooks_after, beep=False, terminator="5", **NO_TIMEOUTS) as box:
        await box.wait_recording()
        await box.caller.press("#")
        await box.caller.wait_spoken(700)
        await box.caller.press("5")
        assert (await box.result())["reason"] == "terminator"
        assert (await box.message()).length_ms >= 600


async def test_silence_ends_a_message(lab: Lab, hooks_after: WebhookServer) -> None:
    """Silence of the configured length ends the message."""
    async with open_mailbox(lab, hooks_after, beep=False, silence=1) as box:
        await box.wait_recording()
        await box.caller.wait_spoken(700)
        box.caller.send_silence()
        assert (await box.result())["reason"] == "silence"
        assert (await box.message()).heard_ms(LEFT, VOICE_HZ) >= 500


async def test_a_phone_that_sends_nothing_ends_a_message(
    lab: Lab, hooks_after: WebhookServer
) -> None:
    """Asterisk ends the message after four seconds without RTP."""
    async with open_mailbox(lab, hooks_after, beep=False, **NO_TIMEOUTS) as box:
        await box.wait_recording()
        await box.caller.wait_spoken(700)
        box.caller.stop_sending()
        assert (await box.result())["reason"] == "silence"
        await box.message()


@pytest.mark.parametrize("is_silent", [False, True])
async def test_the_maximum_length_ends_a_message(
    lab: Lab, hooks_after: WebhookServer, is_silent: bool
) -> None:
    """The engine's timer ends the message, because Asterisk's is late without RTP."""
    async with open_mailbox(lab, hooks_after, beep=False, maxLength=2, silence=0) as box:
        await box.wait_recording()
        if is_silent:
            box.caller.stop_sending()
        result = await box.result()
        found = await box.message()
    assert (result["reason"], result["duration"]) == ("max-length", round(found.length_ms / 1000))
    assert is_silent or 1_000 <= found.length_ms <= box.caller.spoken_ms


async def test_a_hangup_ends_a_message(lab: Lab, hooks_after: WebhookServer) -> None:
    """The message is reported and archived; the last event contains it."""
    async with open_mailbox(lab, hooks_after, beep=False, **NO_TIMEOUTS) as box:
        await box.wait_recording()
        await box.caller.wait_spoken(1_000)
        await box.caller.hang_up()
        assert (await box.result())["reason"] == "hangup"
        found = await box.message()
        result = await lab.engine.wait_for_event(box.call, "completed")
    assert (result["recordingPurpose"], result["endedBy"]) == ("voicemail", "caller")
    assert 900 <= found.length_ms <= box.caller.spoken_ms


async def test_a_called_party_leaves_a_message(lab: Lab, hooks_after: WebhookServer) -> None:
    """A called leg can leave a message while the call is recorded, too."""
    action = {"type": "record", "data": {"maxLength": 1}, "action": hooks_after.url("/after")}
    async with Phone.answering(lab.trunk_port, tone_hz=VOICE_HZ) as far:
        call = await lab.call(to="+4722222222", action=action, recordCall=True)
        box = MessageCall(lab, hooks_after, call, far)
        assert (await box.result())["reason"] == "max-length"
        message = await box.message()
        result = await lab.engine.wait_for_event(call, "completed")
    assert message.heard_ms(LEFT, VOICE_HZ) >= 700
    assert result["recordingPurpose"] == "call"
    whole = RecordingFile(Path(result["recordingUrl"].removeprefix("file://")))
    assert (whole.channels, whole.length_ms > message.length_ms) == (2, True)


async def test_a_message_survives_the_death_of_its_engine(
    lab: Lab, hooks_after: WebhookServer
) -> None:
    """SIGKILL during the message: the PBX continues; the next engine ends and archives it."""
    async with open_mailbox(lab, hooks_after, beep=False, **NO_TIMEOUTS) as box:
        await box.wait_recording()
        await lab.engine.kill()
        await box.caller.wait_spoken(1_000)
        await lab.engine.start()
        await box.wait_recording()
        await box.caller.press("#")
        assert (await box.result())["reason"] == "terminator"
        assert (await box.message()).length_ms >= 1_000


async def test_a_message_that_ends_without_an_engine_is_archived(
    lab: Lab, hooks_after: WebhookServer
) -> None:
    """The caller hangs up without an engine: the next one archives the message."""
    async with open_mailbox(lab, hooks_after, beep=False, **NO_TIMEOUTS) as box:
        await box.wait_recording()
        await box.caller.wait_spoken(1_000)
        await lab.engine.kill()
        await box.caller.hang_up()
        await lab.engine.start()
        assert (await box.message()).length_ms >= 900
        result = await lab.engine.wait_for_event(box.call, "recorded")
    assert result["reason"] == "hangup"
