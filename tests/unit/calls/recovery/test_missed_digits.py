"""Digits that only AMI reported: each counts once, for the state at its release."""

import pytest
from msgspec.structs import replace

from engine.calls.model.call import update_leg
from engine.calls.model.call_states import Gathering, RecordingVoicemail
from engine.calls.model.events import LegHeldByPhone, LegResumedByPhone, PlaybackEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.requests import HoldRequested, MuteRequested
from engine.calls.recovery.missed_digits import (
    ARI_DELAY_MS,
    MAX_AMI_DELAY_MS,
    digits_in_gap,
    missing_digits,
    undelivered_digits,
)
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from tests.harness.calls.ami_digits import (
    HELD_MS,
    ami_digit,
    ari_digit,
    by_leg,
    gathered_digits,
    gathering,
    recover,
)
from tests.harness.calls.builders import HTTPS, MAIN, WithRequest, answered_call, say
from tests.harness.calls.screenings import CONFIRM, FIRST, deliver_media, screening_call
from tests.harness.calls.voicemails import end_voicemail, recording_voicemail


def test_digits_of_an_outage_are_appended() -> None:
    """Earlier digits are not taken again, and the digit timeout restarts."""
    story = gathering()
    first = ari_digit(story, "1", 200)
    story.take(first, 200)
    story.take(second := ari_digit(story, "1", 300), 300)
    more = [ami_digit(ari_digit(story, digit, ms)) for digit, ms in (("1", 300), ("2", 900))]
    recover(story, ami_digit(first), ami_digit(second), *more)
    assert gathered_digits(story.call) == "1112"
    state = story.state_as(Gathering)
    assert state.deadline_ms == story.now + state.verb.data.digit_timeout + 120


def test_the_last_digit_of_an_outage_may_end_the_gather() -> None:
    """The webhook gets all digits."""
    story = gathering(maxDigits=3)
    story.press("1")
    logged = [ami_digit(ari_digit(story, digit, ms)) for digit, ms in (("2", 300), ("3", 900))]
    recover(story, *logged)
    assert b'"dtmf":"123"' in story.commands_of(SendWebhook)[0].body


def test_a_late_digit_is_not_taken_twice() -> None:
    """It was taken from AMI before its ARI event arrived; a later one is new."""
    story = gathering()
    keys = [ari_digit(story, digit, ms) for digit, ms in (("1", 200), ("2", 300), ("2", 400))]
    recover(story, *map(ami_digit, keys[:2]), after_ms=310)
    for key in keys:
        story.take(key)
    assert gathered_digits(story.call) == "122"


def test_a_buffered_digit_is_not_taken() -> None:
    """It is buffered in the shard, and so are all that follow it."""
    story = gathering()
    keys = [ari_digit(story, digit, ms) for digit, ms in (("1", 200), ("2", 300), ("3", 400))]
    logged = by_leg(tuple(map(ami_digit, keys)))
    assert [each.digit for each in missing_digits(story.call, logged, {MAIN: keys[1]})] == ["1"]
    missing = {MAIN: logged[MAIN][:1]}  # AMI is slow
    assert [each.digit for each in missing_digits(story.call, missing, {MAIN: keys[1]})] == ["1"]


def test_a_digit_with_the_same_time_is_not_taken_twice() -> None:
    """AMI can give a digit the very millisecond that ARI gives it."""
    story = gathering()
    key = ari_digit(story, "1", 200)
    recover(story, ami_digit(key, lag_ms=0), after_ms=210)
    story.take(key)
    assert gathered_digits(story.call) == "1"


def test_digits_of_a_gap_are_those_that_ari_will_not_deliver() -> None:
    """A digit that was released ARI_DELAY_MS ago is missing; a later one may still arrive."""
    story = gathering()
    first, second = ari_digit(story, "1"), ami_digit(ari_digit(story, "2", 300))
    for delay_ms, digits in ((ARI_DELAY_MS, "2"), (ARI_DELAY_MS - 1, "")):
        found = digits_in_gap([second], {MAIN: first}, second.up_ms + delay_ms)
        assert "".join(each.digit for each in found) == digits


def test_a_last_digit_unknown_to_ami() -> None:
    """AMI was down when it was pressed: the PBX's timestamps decide."""
    story = gathering()
    earlier = ami_digit(ari_digit(story, "7", 100))
    story.take(ari_digit(story, "1", 500), 500)
    recover(story, earlier, ami_digit(ari_digit(story, "1", MAX_AMI_DELAY_MS + 500)))
    assert gathered_digits(story.call) == "11"


def test_digits_before_the_gather_do_not_count() -> None:
    """Without type-ahead, those of an earlier state; and those while the leg was on hold."""
    story = answered_call(say(action={"type": "gather", "data": {"typeAhead": False}}))
    story.deliver_media()
    early = ami_digit(ari_digit(story, "1", 500))
    story.take(PlaybackEnded(story.state_as(WithRequest).request), 4_000)
    story.take(HoldRequested(MAIN, True), 100)
    held = ami_digit(ari_digit(story, "2", 500))
    story.take(HoldRequested(MAIN, False), 1_000)
    recover(story, early, held, ami_digit(ari_digit(story, "3", 500)))
    assert gathered_digits(story.call) == "3"


def test_a_mute_in_an_undetected_outage_keeps_digits() -> None:
    """The prompt is restarted for the mute, and the gather accepted digits all the time."""
    story = gathering(audioUrl=HTTPS)
    story.deliver_media()
    before, after = (
        ami_digit(ari_digit(story, digit, ms)) for digit, ms in (("1", 500), ("2", 1_500))
    )
    story.take(MuteRequested(MAIN, "in"), 1_000)
    recover(story, before, after)
    assert gathered_digits(story.call) == "12"


def test_undelivered_digits() -> None:
    """A digit becomes undelivered after a short delay, unless ARI delivers it."""
    story = gathering()
    first, second = ari_digit(story, "1", 200), ari_digit(story, "2", 900)
    story.take(first, 200)
    logged = by_leg((ami_digit(first), ami_digit(second)))
    up_ms = logged[MAIN][-1].up_ms
    assert undelivered_digits(story.call, logged, up_ms + ARI_DELAY_MS - 1) == ()
    assert undelivered_digits(story.call, logged, up_ms + ARI_DELAY_MS) == (ami_digit(second),)


@pytest.mark.parametrize("is_answered", [False, True])
def test_a_digit_just_before_a_mute_is_undelivered(is_answered: bool) -> None:
    """The mute restarts the prompt, but the gather accepted digits before it, too.

    So it does on a leg without an answer, which has no `digits_from_ms`.
    """
    story = gathering(audioUrl=HTTPS)
    story.deliver_media()
    if not is_answered:
        story.call = update_leg(story.call, MAIN, digits_from_ms=0)
    pressed = ami_digit(ari_digit(story, "1", 500))
    story.take(MuteRequested(MAIN, "in"), 1_000)
    missed = undelivered_digits(story.call, by_leg((pressed,)), pressed.up_ms + ARI_DELAY_MS)
    assert missed == (pressed,)


def test_a_digit_just_before_a_gather_is_not_undelivered() -> None:
    """ARI delivered it before the gather started; AMI reports it afterwards."""
    story = gathering()
    logged = by_leg((ami_digit(ari_digit(story, "1", -1)),))
    assert undelivered_digits(story.call, logged, story.now + 5_000) == ()


def test_no_digit_counts_on_hold() -> None:
    """As with delivered digits."""
    story = gathering()
    story.take(HoldRequested(MAIN, True), 100)
    recover(story, ami_digit(ari_digit(story, "2", 500)))
    assert gathered_digits(story.call) == ""


def test_a_digit_during_the_prompt_stops_it() -> None:
    """Barge-in, late; the digit timeout starts now."""
    story = gathering(audioUrl=HTTPS)
    story.deliver_media()
    playback = story.state_as(Gathering).request
    pressed = ami_digit(ari_digit(story, "1", 500))
    recover(story, pressed, seen=PbxSnapshot({MAIN: "Up"}, frozenset({playback})), after_ms=1_000)
    assert (gathered_digits(story.call), story.state_as(Gathering).phase) == ("1", "between")


def test_digits_of_an_outage_are_typed_ahead() -> None:
    """They count for the gather after a prompt that went on, or that ended unnoticed."""
    for playing in (True, False):
        story = answered_call(say(action={"type": "gather"}))
        story.deliver_media()
        playback = story.state_as(WithRequest).request
        keys = [ami_digit(ari_digit(story, digit, ms)) for digit, ms in (("1", 900), ("2", 4_100))]
        seen = PbxSnapshot({MAIN: "Up"}, frozenset({playback} if playing else ()))
        recover(story, *keys, seen=seen, after_ms=6_000)
        if playing:
            story.take(PlaybackEnded(playback))
        assert gathered_digits(story.call) == "12"


def test_a_delivered_digit_is_not_typed_ahead_twice() -> None:
    """The leg remembers the last digit that it has typed ahead."""
    story = answered_call(say(action={"type": "gather"}))
    story.deliver_media()
    story.take(key := ari_digit(story, "1", 900), 900)
    recover(story, ami_digit(key), after_ms=6_000)
    assert gathered_digits(story.call) == "1"


def test_a_dropped_digit_stays_dropped() -> None:
    """A spare terminator, and a digit that is no terminator of a voicemail."""
    story = gathering(maxDigits=1)
    story.take(ari_digit(story, "1", 200), 200)
    story.take(spare := ari_digit(story, "#", 200), 200)
    recover(story, ami_digit(spare))
    assert story.leg(MAIN).typed_ahead == ()


def test_an_outage_restarts_the_digit_timeout() -> None:
    """The digit timeout restarts after it, the timeout of the whole verb does not."""
    story = gathering(digitTimeout=1_000)
    story.press("1")
    recover(story, ami_digit(ari_digit(story, "2", 2_500)))
    assert gathered_digits(story.call) == "12"
    verb = {"type": "gather", "timeout": 2, "data": {}, "action": HTTPS}
    story = answered_call(verb)
    recover(story, *(ami_digit(ari_digit(story, d, ms)) for d, ms in (("1", 1_900), ("2", 2_200))))
    body = story.commands_of(SendWebhook)[0].body
    assert b'"dtmf":"1"' in body
    assert b'"reason":"timeout"' in body


def test_a_digit_in_the_last_millisecond_of_an_outage_counts() -> None:
    """Its key-down is compared with the timeout of the whole verb, to the millisecond."""
    for late_ms, digits in ((0, "12"), (1, "1")):
        story = answered_call({"type": "gather", "timeout": 2, "data": {}, "action": HTTPS})
        keys = [ari_digit(story, d, ms) for d, ms in (("1", 900), ("2", 2_000 + HELD_MS + late_ms))]
        recover(story, *(ami_digit(key, lag_ms=0) for key in keys))
        assert f'"dtmf":"{digits}"' in (
            f'"dtmf":"{gathered_digits(story.call)}"'
            if story.state == "gathering"
            else story.commands_of(SendWebhook)[0].body.decode()
        )


def test_digits_before_a_hangup_are_reported() -> None:
    """Also if the caller hung up during the outage."""
    story = gathering()
    recover(story, ami_digit(ari_digit(story, "1", 500)), seen=PbxSnapshot({}))
    assert b'"dtmf":"1"' in story.commands_of(SendWebhook)[0].body


def test_a_voicemail_ended_by_a_digit() -> None:
    """Asterisk ends it; the digit gives the reason."""
    archive = RecordingDestination("file:///x/", "acme/2026-11-21")
    story = answered_call(
        {"type": "record", "data": {"beep": False}, "action": HTTPS}, recording_destination=archive
    )
    key = ami_digit(ari_digit(story, "#", 500))
    recover(story, key)
    assert story.state_as(RecordingVoicemail).reason == "terminator"


def test_keys_on_hold_do_not_count_while_a_voicemail_is_archived() -> None:
    """AMI reports them, too."""
    story = recording_voicemail({"type": "gather"})
    end_voicemail(story)
    story.take(LegHeldByPhone(MAIN), 1_000)
    key = ami_digit(ari_digit(story, "1", 500))
    story.take(LegResumedByPhone(MAIN), 1_000)
    assert undelivered_digits(story.call, by_leg((key,)), story.now + 1_000) == ()


def test_keys_on_hold_do_not_count_after_a_voicemail_either() -> None:
    """Its end does not hide that the phone held the call before."""
    story = recording_voicemail({"type": "gather"})
    story.take(LegHeldByPhone(MAIN), 1_000)
    key = ami_digit(ari_digit(story, "1", 500))
    story.take(LegResumedByPhone(MAIN), 1_000)
    end_voicemail(story)
    assert undelivered_digits(story.call, by_leg((key,)), story.now + 1_000) == ()


def test_a_screened_leg_confirms_in_an_outage() -> None:
    """Its digit counts as on the main leg."""
    story = screening_call(**CONFIRM)
    deliver_media(story)
    key = ami_digit(ari_digit(story, "1", 500, FIRST))
    recover(story, key, seen=PbxSnapshot({MAIN: "Up", FIRST: "Up"}))
    assert story.state == "bridged"


def test_a_call_of_an_older_engine_is_skipped() -> None:
    """Its leg has neither the start of acceptance nor the last digit."""
    story = gathering()
    call = replace(story.call, state=replace(story.state_as(Gathering), since_ms=0))
    story.call = update_leg(call, MAIN, digits_from_ms=0)
    recover(story, ami_digit(ari_digit(story, "1", 500)))
    assert gathered_digits(story.call) == ""
