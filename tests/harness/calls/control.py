"""Builders for live control: a conversation of main (`l0`) and Bob (`l1`)."""

from typing import Any, Literal

from engine.calls.media.plan import UNBRIDGED, LegMedia, desired_media
from engine.calls.model.events import Event, LegAnswered, LegCreated, LegEnded, LegRinging
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.requests import (
    AddMemberRequested,
    CoachRequested,
    DialRequested,
    HoldRequested,
    KickRequested,
    TransferCancelRequested,
    TransferCompletionRequested,
    TransferRequested,
)
from engine.calls.model.sessions import Conference, Member, Transfer, TransferMode
from tests.harness.calls.builders import CLIPS, ID, MAIN, Story, bridged_call

BOB, CAROL, DAN = "+4712345678", "+4787654321", "agent:9"
PEER = f"{ID}.l1"
BRIDGE = f"{ID}.b2"
MIX_BRIDGE = f"{ID}.m2"  # of a conference, from its third member on
SESSION = f"{ID}.t3"
TARGET = f"{ID}.l4"
CONFERENCE = f"{ID}.f3"
THIRD = f"{ID}.l4"
FOURTH = f"{ID}.l5"
SNOOP = f"{ID}.s5"
COACH_BRIDGE = f"{SNOOP}b"  # the bridge of coach and snoop
MUSIC_URL = "https://example.com/tune.wav"

Progress = Literal["starting", "ringback", "answered"]
PROGRESS: dict[Progress, tuple[type[LegCreated | LegRinging | LegAnswered], ...]] = {
    "starting": (),
    "ringback": (LegCreated, LegRinging),
    "answered": (LegCreated, LegRinging, LegAnswered),
}


def transfer_to(party: str = CAROL, **fields: Any) -> TransferRequested:
    """Return the request to transfer main from Bob to Carol, attended."""
    data = {"mode": "attended", "source": PEER, "customer": MAIN, "source_agent": "7", **fields}
    return TransferRequested(party=party, **data)


def transferring(state: Progress = "starting", *, action: Any = None, **fields: Any) -> Story:
    """Return a call whose main leg is being transferred, 10 s into its conversation with Bob."""
    story = bridged_call(BOB, action=action)
    story.take(transfer_to(**fields), 10_000)
    return progress(story, TARGET, state)


def transferring_from_main(
    state: Progress = "starting", mode: TransferMode = "attended", **more: Any
) -> Story:
    """Return a call in which main is the source, and Bob the customer."""
    return transferring(state, mode=mode, source=MAIN, customer=PEER, **more)


def in_conference(*others: str, music: str | None = None, action: Any = None) -> Story:
    """Return a call with a conference, in which Carol and the others have answered."""
    story = inviting(music=music, action=action)
    progress(story, THIRD, "answered")
    for party in others:
        story.take(AddMemberRequested(party, "7"), 1_000)
        progress(story, story.call.legs[-1].id, "answered")
    return story


def inviting(*, music: str | None = None, action: Any = None) -> Story:
    """Return a call with a conference that Carol is being called into."""
    story = bridged_call(BOB, action=action)
    story.take(AddMemberRequested(CAROL, "7", agent_id="8", name="Carol", music=music), 1_000)
    return story


def progress(story: Story, leg: str, state: Progress) -> Story:
    """Apply the events by which a leg reaches a state."""
    for kind in PROGRESS[state]:
        story.take(kind(leg), 500)
    return story


def dial_into(story: Story, party: str = CAROL, *, state: Progress = "starting") -> str:
    """Call a party into a call and let its leg reach a state; returns the leg."""
    story.take(DialRequested(party, 40), 100)
    leg = story.call.legs[-1].id
    progress(story, leg, state)
    return leg


def complete(session: str = SESSION) -> TransferCompletionRequested:
    return TransferCompletionRequested(session, "7", "manual_complete")


def cancel(session: str = SESSION) -> TransferCancelRequested:
    return TransferCancelRequested(session, "7", "source_cancel")


def hold(leg: str) -> HoldRequested:
    return HoldRequested(leg, held=True)


def unhold(leg: str) -> HoldRequested:
    return HoldRequested(leg, held=False)


def kick(leg: str, session: str = CONFERENCE) -> KickRequested:
    return KickRequested(session, leg, "7")


def leave(leg: str, session: str = CONFERENCE) -> KickRequested:
    return KickRequested(session, leg, "7", is_leave=True)


def coach(leg: str, coached: str, session: str = CONFERENCE) -> CoachRequested:
    return CoachRequested(session, leg, coached)


def media_of(story: Story, leg: str) -> LegMedia:
    """Return the desired media of a leg."""
    return desired_media(story.call).get(leg, UNBRIDGED)


def bridged_legs(story: Story) -> set[str]:
    """Return the legs that share the conversation's bridge."""
    bridge = getattr(story.call.state, "bridge", "none")
    return {leg for leg, media in desired_media(story.call).items() if media.bridge == bridge}


def transfer(story: Story) -> Transfer:
    """Return the latest transfer."""
    return story.call.transfers[-1]


def conference(story: Story) -> Conference:
    """Return the latest conference."""
    return story.call.conferences[-1]


def member(story: Story, leg: str) -> Member:
    """Return a live member of the latest conference, which must exist."""
    found = conference(story).member(leg)
    assert found is not None, leg
    return found


def members(story: Story) -> dict[str, tuple[str, str]]:
    """Return each member's state and reason, by leg."""
    return {each.leg: (each.state, each.reason) for each in conference(story).members}


def transfer_events(story: Story) -> list[tuple[str | None, str | None]]:
    """Return the states of transfers that were emitted, with their reasons."""
    return [(e.session_state, e.reason) for e in story.emitted if e.event == "transfer"]


def conference_events(story: Story) -> list[tuple[str | None, str | None]]:
    """Return the states of conferences that were emitted, with their reasons."""
    return [(e.session_state, e.reason) for e in story.emitted if e.event == "conference"]


def member_events(story: Story, leg: str) -> list[tuple[str | None, str | None]]:
    """Return a member's states that were emitted, with their reasons."""
    events = [e for e in story.emitted if e.event == "conference-member" and e.channel_id == leg]
    return [(each.session_state, each.reason) for each in events]


def coaching() -> Story:
    """Return a conference in which Carol coaches Bob."""
    story = in_conference()
    story.take(coach(THIRD, PEER))
    story.take(LegCreated(SNOOP))
    return story


def transferring_with_music() -> Story:
    """Return a transfer with custom hold music."""
    story = transferring("answered", music=MUSIC_URL)
    story.take(MediaFetched(story.commands_of(FetchMedia)[-1].request, CLIPS))
    return story


def waiting_alone() -> Story:
    """Return a conference in which one member waits for another."""
    story = inviting()
    story.take(LegEnded(PEER, 16))
    return story


def take_all(story: Story, *events: Event) -> Story:
    for event in events:
        story.take(event)
    return story
