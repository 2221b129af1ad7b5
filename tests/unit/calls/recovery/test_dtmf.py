"""Keys that only other ears heard: each counts once, for what listened when it was let go."""

from msgspec.structs import replace

from engine.calls.model.events import PlaybackEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.recording import RecordingDestination
from engine.calls.model.requests import HoldRequested, MuteRequested
from engine.calls.model.state import Gathering, RecordingVoicemail
from engine.calls.recovery.dtmf import (
    ARI_DELAY_MS,
    MAX_AMI_DELAY_MS,
    missing_digits,
    undelivered_digits,
)
from engine.calls.recovery.snapshot import PbxSnapshot
from tests.unit.calls.harness.ami_digits import (
    by_leg,
    digits,
    gathering,
    overheard,
    recovered,
    told,
)
from tests.unit.calls.harness.builders import HTTPS, MAIN, WithRequest, called, say
from tests.unit.calls.harness.screenings import CONFIRM, FIRST, fetched, greeting


def test_keys_of_an_outage_are_added_to_those_before() -> None:
    """What was pressed before is not taken again, and the clock begins anew."""
    story = gathering()
    first = told(story, "1", 200)
    story.take(first, 200)
    story.take(second := told(story, "1", 300), 300)
    more = [overheard(told(story, digit, ms)) for digit, ms in (("1", 300), ("2", 900))]
    recovered(story, overheard(first), overheard(second), *more)
    assert digits(story.call) == "1112"
    doing = story.state_as(Gathering)
    assert doing.deadline_ms == story.now + doing.verb.data.digit_timeout + 120


def test_the_last_key_of_an_outage_may_end_it() -> None:
    """The webhook gets all of them."""
    story = gathering(maxDigits=3)
    story.press("1")
    heard = [overheard(told(story, digit, ms)) for digit, ms in (("2", 300), ("3", 900))]
    recovered(story, *heard)
    assert b'"dtmf":"123"' in story.wanted(SendWebhook)[0].body


def test_a_key_that_is_told_late_is_not_taken_twice() -> None:
    """It was taken from AMI while its ARI event was on its way; a later one is new."""
    story = gathering()
    keys = [told(story, digit, ms) for digit, ms in (("1", 200), ("2", 300), ("2", 400))]
    recovered(story, *map(overheard, keys[:2]), after_ms=310)
    for key in keys:
        story.take(key)
    assert digits(story.call) == "122"


def test_a_key_that_will_be_told_anyway_is_left() -> None:
    """It waits at the desk, and so do all that follow it."""
    story = gathering()
    keys = [told(story, digit, ms) for digit, ms in (("1", 200), ("2", 300), ("3", 400))]
    heard = by_leg(tuple(map(overheard, keys)))
    assert [each.digit for each in missing_digits(story.call, heard, {MAIN: keys[1]})] == ["1"]
    missing = {MAIN: heard[MAIN][:1]}  # AMI is slow
    assert [each.digit for each in missing_digits(story.call, missing, {MAIN: keys[1]})] == ["1"]


def test_who_has_not_heard_the_last_key_goes_by_the_pbx_clock() -> None:
    """The manager interface was away when it was pressed."""
    story = gathering()
    earlier = overheard(told(story, "7", 100))
    story.take(told(story, "1", 500), 500)
    recovered(story, earlier, overheard(told(story, "1", MAX_AMI_DELAY_MS + 500)))
    assert digits(story.call) == "11"


def test_keys_before_it_listened_do_not_count() -> None:
    """They were pressed into what came before, or while the leg was on hold."""
    story = called(say(action={"type": "gather"}))
    story.fetched()
    early = overheard(told(story, "1", 500))
    story.take(PlaybackEnded(story.state_as(WithRequest).request), 4_000)
    story.take(HoldRequested(MAIN, True), 100)
    held = overheard(told(story, "2", 500))
    story.take(HoldRequested(MAIN, False), 1_000)
    recovered(story, early, held, overheard(told(story, "3", 500)))
    assert digits(story.call) == "3"


def test_a_mute_before_anybody_knew_of_the_outage_takes_no_key_back() -> None:
    """The prompt is stopped for it, and the gather listened all the while."""
    story = gathering(audioUrl=HTTPS)
    story.fetched()
    before, after = (overheard(told(story, digit, ms)) for digit, ms in (("1", 500), ("2", 1_500)))
    story.take(MuteRequested(MAIN, "in"), 1_000)
    recovered(story, before, after)
    assert digits(story.call) == "12"


def test_what_ari_has_not_told_by_now_it_will_not_tell() -> None:
    """A key is waited for a moment, as ARI may be the later one; one that it told is not missed."""
    story = gathering()
    first, second = told(story, "1", 200), told(story, "2", 900)
    story.take(first, 200)
    heard = by_leg((overheard(first), overheard(second)))
    up_ms = heard[MAIN][-1].up_ms
    assert undelivered_digits(story.call, heard, up_ms + ARI_DELAY_MS - 1) == ()
    assert undelivered_digits(story.call, heard, up_ms + ARI_DELAY_MS) == (overheard(second),)


def test_a_key_just_before_a_gather_is_not_untold() -> None:
    """ARI told it in time, when nothing listened; AMI tells it when the gather does."""
    story = gathering()
    heard = by_leg((overheard(told(story, "1", -1)),))
    assert undelivered_digits(story.call, heard, story.now + 5_000) == ()


def test_no_key_counts_on_hold() -> None:
    """As none does that is heard."""
    story = gathering()
    story.take(HoldRequested(MAIN, True), 100)
    recovered(story, overheard(told(story, "2", 500)))
    assert digits(story.call) == ""


def test_a_key_into_the_prompt_stops_it() -> None:
    """Barge-in, late; and its gap counts from now."""
    story = gathering(audioUrl=HTTPS)
    story.fetched()
    playback = story.state_as(Gathering).request
    pressed = overheard(told(story, "1", 500))
    recovered(story, pressed, seen=PbxSnapshot({MAIN: "Up"}, frozenset({playback})), after_ms=1_000)
    assert (digits(story.call), story.state_as(Gathering).phase) == ("1", "between")


def test_keys_after_a_prompt_that_ended_meanwhile_count_for_what_follows() -> None:
    """Had somebody heard its end, the gather would have listened."""
    story = called(say(action={"type": "gather"}))
    story.fetched()
    [into, after] = [overheard(told(story, digit, ms)) for digit, ms in (("1", 900), ("2", 4_100))]
    recovered(story, into, after, after_ms=6_000)
    assert digits(story.call) == "2"


def test_a_prompt_that_goes_on_takes_no_keys() -> None:
    """What follows it has not begun."""
    story = called(say(action={"type": "gather"}))
    story.fetched()
    playback = story.state_as(WithRequest).request
    key = overheard(told(story, "2", 4_100))
    recovered(story, key, seen=PbxSnapshot({MAIN: "Up"}, frozenset({playback})), after_ms=4_200)
    assert story.state == "playing"


def test_an_outage_is_not_the_callers_silence() -> None:
    """No clock of a gap runs in it, but that of the whole verb does."""
    story = gathering(digitTimeout=1_000)
    story.press("1")
    recovered(story, overheard(told(story, "2", 2_500)))
    assert digits(story.call) == "12"
    verb = {"type": "gather", "timeout": 2, "data": {}, "action": HTTPS}
    story = called(verb)
    recovered(story, *(overheard(told(story, d, ms)) for d, ms in (("1", 1_900), ("2", 2_200))))
    asked = story.wanted(SendWebhook)[0].body
    assert b'"dtmf":"1"' in asked
    assert b'"reason":"timeout"' in asked


def test_keys_before_a_hangup_are_told() -> None:
    """Who typed and hung up in the outage has typed."""
    story = gathering()
    recovered(story, overheard(told(story, "1", 500)), seen=PbxSnapshot({}))
    assert b'"dtmf":"1"' in story.wanted(SendWebhook)[0].body


def test_a_message_that_a_key_has_ended_says_so() -> None:
    """Asterisk ends it; the key tells why."""
    archive = RecordingDestination("file:///x/", "acme/2026-11-21")
    story = called(
        {"type": "record", "data": {"beep": False}, "action": HTTPS}, recording_destination=archive
    )
    key = overheard(told(story, "#", 500))
    recovered(story, key)
    assert story.state_as(RecordingVoicemail).reason == "terminator"


def test_a_greeted_leg_confirms_in_an_outage() -> None:
    """Its key counts as the main leg's would."""
    story = greeting(**CONFIRM)
    fetched(story)
    key = overheard(told(story, "1", 500, FIRST))
    recovered(story, key, seen=PbxSnapshot({MAIN: "Up", FIRST: "Up"}))
    assert story.state == "bridged"


def test_a_call_of_an_older_engine_is_left_alone() -> None:
    """It does not say since when keys count, nor which it has."""
    story = gathering()
    story.call = replace(story.call, state=replace(story.state_as(Gathering), since_ms=0))
    recovered(story, overheard(told(story, "1", 500)))
    assert digits(story.call) == ""
