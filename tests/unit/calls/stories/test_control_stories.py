"""Random stories of a controlled call: the invariants of every call."""

from typing import Any

from hypothesis import settings
from hypothesis.stateful import invariant

from engine.calls.media.plan import LegMedia, desired_media
from engine.calls.model.call import is_expected
from engine.calls.model.call_states import Bridged
from engine.calls.model.commands import Hangup, Snoop
from engine.calls.model.sessions import CONFERENCE_MOVES, MEMBER_MOVES, TRANSFER_MOVES, HoldMusic
from tests.harness.calls.random_requests import RandomRequests

MOVES: dict[str, dict[Any, tuple[Any, ...]]] = {
    "transfer": TRANSFER_MOVES,
    "conference": CONFERENCE_MOVES,
    "conference-member": MEMBER_MOVES,
}

MAX_DEADLINES = 5_000  # until a call ends: a tree of many dials has hundreds


class RandomControl(RandomRequests):
    """A call, a model of its PBX, and random requests."""

    @invariant()
    def every_leg_has_its_media(self) -> None:
        """Each leg is in its desired bridge with its desired sound, and no other leg is."""
        if not hasattr(self, "story"):
            return
        for leg, media in desired_media(self.story.call).items():
            is_snoop = leg in {each.snoop for each in self.story.commands_of(Snoop)}
            assert is_snoop or self.story.call.is_up(leg)
            assert self.pbx.bridge.get(leg, "") == media.bridge
            assert self.pbx.muted.get(leg, "") == media.muted
            assert _sound(media) <= self.pbx.sounds.get(leg, set())
            assert not media.bridge or not self.pbx.sounds.get(leg)

    @invariant()
    def no_leg_waits_in_silence(self) -> None:
        """Let a leg alone in the bridge wait for one on hold, or be coached."""
        if not hasattr(self, "story") or not isinstance(self.story.call.state, Bridged):
            return
        call = self.story.call
        alone = [
            s
            for s in desired_media(call).values()
            if s.bridge == self.story.state_as(Bridged).bridge
        ]
        held = any(leg.held for leg in call.legs)
        coaches = call.conference and any(each.coaches for each in call.conference.members)
        assert len(alone) != 1 or held or coaches

    @invariant()
    def one_session_at_a_time(self) -> None:
        """Only the latest session can be live: a transfer or a conference."""
        if not hasattr(self, "story"):
            return
        call = self.story.call
        assert not any(each.is_live for each in call.transfers[:-1])
        assert not any(each.is_live for each in call.conferences[:-1])
        assert call.transfer is None or call.conference is None
        assert isinstance(call.state, Bridged) or not (call.transfer or call.conference)

    @invariant()
    def unexpected_legs_are_hung_up(self) -> None:
        """Hang up every leg without a role in the call."""
        if not hasattr(self, "story"):
            return
        hung_up = {each.leg for each in self.story.commands_of(Hangup)}
        for leg in self.story.call.legs:
            assert is_expected(self.story.call, leg.id) or leg.id in hung_up

    def teardown(self) -> None:
        """At the end: all transitions were allowed, and time alone ends the call."""
        if not hasattr(self, "story"):
            return
        for _ in range(MAX_DEADLINES):
            if self.story.call.is_ended:
                break
            self.time_passes()
        assert self.story.call.is_ended
        last: dict[Any, str | None] = {}
        for each in self.story.emitted:
            key = (each.session_id, each.channel_id if "member" in each.event else "")
            if each.event in MOVES and each.session_state != last.get(key, each.session_state):
                assert each.session_state in MOVES[each.event].get(last[key], ())
            if each.event in MOVES:
                last[key] = each.session_state


def _sound(media: LegMedia) -> set[str]:
    sound = media.sound.playback if isinstance(media.sound, HoldMusic) else media.sound
    return {sound} if sound else set()


TestRandomControl = RandomControl.TestCase
TestRandomControl.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
