"""Lines and tables that show a call: legs, transfers, conferences, recordings and streams."""

from collections.abc import Iterator

from rich.console import RenderableType

from base.timeline import wording
from cli.adaptive_table import AdaptiveTable
from wire.control import ConferenceView, MemberView, TransferView
from wire.views import CallStreams, CallView, LegView, RecordingView, StreamView


def call(view: CallView) -> Iterator[RenderableType]:
    state = f"{view.state} ({view.verb})" if view.verb else view.state
    yield f"call {view.call_id}"
    about = f"{view.direction}, from {view.from_} to {view.to}, account {view.account}"
    yield f"{about}, {view.status}, {state}"
    if view.legs:
        yield legs(view)
    yield from map(transfer, view.transfers)
    for each in view.conferences:
        yield from conference(each)
    yield from map(recording, view.recordings)


def legs(view: CallView) -> AdaptiveTable:
    """Show the live legs with their channel ids."""
    rows = [
        (leg.channel_id, leg.party, leg.agent_id or "", leg.state,
         ", ".join(_notes(leg, is_main=leg.channel_id == view.main_channel_id)))
        for leg in view.legs
    ]  # fmt: skip
    return AdaptiveTable(("channel", "party", "agent", "state", ""), rows)


def transfer(view: TransferView) -> str:
    parties = f"{view.customer_channel_id} from {view.source_channel_id} to {view.target}"
    reason = f", {view.reason}" if view.reason else ""
    session = view.transfer_session_id
    return f"transfer {session}: {view.transfer_mode}, {view.state}{reason}: {parties}"


def conference(view: ConferenceView) -> Iterator[RenderableType]:
    """Show a conference with its present and former members."""
    reason = f", {view.reason}" if view.reason else ""
    yield f"conference {view.conference_session_id}: {view.state}{reason}"
    rows = [
        (each.channel_id, each.party, each.agent_id or "", each.state,
         ", ".join(_member_notes(each, view.call_id)))
        for each in view.members
    ]  # fmt: skip
    yield AdaptiveTable(("member", "party", "agent", "state", ""), rows)


def streams(view: CallStreams) -> RenderableType:
    """Show the live streams of a call with their ids."""
    if not view.streams:
        return "no streams"
    rows = [
        (each.stream_id, each.url, each.protocol, each.state, ", ".join(_stream_notes(each)))
        for each in view.streams
    ]
    return AdaptiveTable(("stream", "bot", "protocol", "state", ""), rows)


def _stream_notes(stream: StreamView) -> Iterator[str]:
    if stream.fork:
        yield f"fork, track {stream.track}"
    if stream.heard_ms:
        yield f"{wording.seconds(stream.heard_ms)} heard"
    if stream.last_mark:
        yield f"mark {wording.shorten(stream.last_mark)}"


def _notes(leg: LegView, *, is_main: bool) -> Iterator[str]:
    if is_main:
        yield "main"
    if leg.muted:
        yield f"muted: {wording.mute_direction(leg.muted)}"
    if leg.held:
        yield "on hold"
    if leg.answered_by:
        yield f"answered by: {leg.answered_by}"


def _member_notes(member: MemberView, call_id: str) -> Iterator[str]:
    if member.name:
        yield member.name
    if member.coaches:
        yield f"coaches {member.coaches.removeprefix(call_id)}"
    if member.muted:
        yield f"muted: {wording.mute_direction(member.muted)}"
    if member.held:
        yield "on hold"
    if member.reason:
        yield member.reason


def recording(view: RecordingView) -> str:
    length = f", {wording.seconds(view.duration_ms)}" if view.duration_ms else ""
    return f"recording ({view.purpose}): {view.state}{length}, {view.url}"
