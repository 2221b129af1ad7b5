"""Random requests to a live call."""

from typing import Any

from hypothesis import strategies as some
from hypothesis.stateful import precondition, rule

from engine.calls.model.call_states import Bridged
from engine.calls.model.commands import Snoop
from engine.calls.model.events import LegCreated, LegReplaced
from engine.calls.model.requests import (
    AddMemberRequested,
    CoachRequested,
    DialRequested,
    HoldRequested,
    KickRequested,
    LegHangupRequested,
    MuteRequested,
    ReferReceived,
    ReplacementArrived,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from tests.harness.calls.builders import MAIN
from tests.harness.calls.control import CAROL, MUSIC_URL
from tests.harness.calls.random_events import PLACES
from tests.harness.calls.random_story import RandomStory
from wire.call_id_format import other_half


class RandomRequests(RandomStory):
    """Adds requests to the random events."""

    @rule(place=PLACES, direction=some.sampled_from(["", "in", "out", "both"]))
    def a_mute(self, place: int, direction: Any) -> None:
        self.take(MuteRequested(self.leg(place), direction))

    @rule(place=PLACES, held=some.booleans())
    def a_hold(self, place: int, held: bool) -> None:
        self.take(HoldRequested(self.leg(place), held))

    @rule(place=PLACES)
    def a_leg_is_hung_up(self, place: int) -> None:
        self.take(LegHangupRequested(self.leg(place)))

    @rule(ring_s=some.sampled_from([5, 60]))
    def a_dial(self, ring_s: int) -> None:
        self.take(DialRequested(CAROL, ring_s))

    @rule(
        mode=some.sampled_from(["blind", "attended"]),
        is_main=some.booleans(),
        music=some.sampled_from([None, MUSIC_URL]),
    )
    def a_transfer(self, mode: Any, is_main: bool, music: str | None) -> None:
        others = self.story.call.state.legs if isinstance(self.story.call.state, Bridged) else ()
        pair = (self.story.call.main, others[0] if others else MAIN)
        source, customer = pair if is_main else pair[::-1]
        self.take(TransferRequested(mode, source, customer, CAROL, music=music))

    @rule(back=some.integers(1, 2), is_complete=some.booleans())
    def a_transfer_is_ended(self, back: int, is_complete: bool) -> None:
        """Complete or cancel the latest transfer, or the one before."""
        if len(self.story.call.transfers) >= back:
            session = self.story.call.transfers[-back].id
            kind = TransferCompletionRequested if is_complete else TransferCancelRequested
            self.take(kind(session, "7", "why"))

    @rule(place=PLACES, is_known=some.booleans())
    def a_refer(self, place: int, is_known: bool) -> None:
        """Send REFER with Replaces, for a known call or an unknown one."""
        app = "switchroom-5" if is_known else ""
        self.take(ReferReceived(self.leg(place), CAROL, True, "", "1700000000.9", app))

    @rule(place=PLACES, number=some.integers(0, 2), account=some.sampled_from(["acme", "other"]))
    def a_replacement(self, place: int, number: int, account: str) -> None:
        """Let a leg arrive that another call has sent, perhaps for the second time."""
        sent = other_half(f"3-pbx1-otherone.l{number}")
        self.take(ReplacementArrived(sent, self.leg(place), account, CAROL))

    @rule(place=PLACES, number=some.integers(0, 2))
    def a_swap(self, place: int, number: int) -> None:
        """Let Asterisk put a channel in the place of a leg, perhaps for the second time."""
        self.take(LegReplaced(f"1700000000.7{number}", self.leg(place)))

    @rule(music=some.sampled_from([None, MUSIC_URL]))
    def a_member(self, music: str | None) -> None:
        self.take(AddMemberRequested(CAROL, "7", music=music))

    @rule(back=some.integers(1, 2), place=PLACES, is_leave=some.booleans())
    def a_kick(self, back: int, place: int, is_leave: bool) -> None:
        """Remove a member of the latest conference, or of the one before."""
        if len(self.story.call.conferences) >= back:
            session = self.story.call.conferences[-back].id
            self.take(KickRequested(session, self.leg(place), "7", is_leave))

    @precondition(lambda self: self.story.call.conferences)
    @rule(place=PLACES, other=PLACES, is_off=some.booleans())
    def a_coach(self, place: int, other: int, is_off: bool) -> None:
        """Coach a member, and create the snoop or not."""
        session = self.story.call.conferences[-1].id
        coached = "" if is_off else self.leg(other)
        before = len(self.story.commands_of(Snoop))
        self.take(CoachRequested(session, self.leg(place), coached))
        for snoop in self.story.commands_of(Snoop)[before:]:
            if other % 2:
                self.take(LegCreated(snoop.snoop), 5)
