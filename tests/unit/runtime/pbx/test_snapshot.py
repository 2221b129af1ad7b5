"""A snapshot of a PBX: what it shows, and a reply that is missing."""

from collections.abc import Mapping
from contextlib import nullcontext

import msgspec
import pytest

from engine.ari.request import LOST, Reply
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.runtime.pbx.snapshot import LIST_TRIES, PbxUnavailable, take_snapshot
from tests.harness.calls.builders import CHANNEL, ID, MAIN
from tests.harness.runtime.ari_messages import channel
from tests.harness.runtime.inbound_node import BRIDGE
from tests.harness.runtime.recording_pbx import OK, RecordingPbx

VARIABLE = f"channels/{MAIN}/variable"
SHOWN = {
    "channels": [channel(MAIN, "Ringing"), channel(CHANNEL, "Up")],
    "bridges": [{**BRIDGE, "id": f"{ID}.b1", "channels": [MAIN]}],
}


async def snapshot_of(shown: Mapping[str, Reply]) -> PbxSnapshot:
    """Take a snapshot of a PBX, with two playbacks, a dialled leg and a voicemail."""
    pbx = RecordingPbx()
    pbx.shows = {path: Reply(200, msgspec.json.encode(each)) for path, each in SHOWN.items()}
    pbx.shows |= shown
    snapshot, channels = await take_snapshot(pbx, ["p1", "p2"], [MAIN], ["v1"])
    assert [each.id for each in channels] == [MAIN, CHANNEL]
    return snapshot


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ({}, PbxSnapshot({})),
        ({"playbacks/p2": OK}, PbxSnapshot({}, playbacks=frozenset({"p2"}))),
        ({"recordings/live/v1": OK}, PbxSnapshot({}, voicemails=frozenset({"v1"}))),
        (
            {VARIABLE: Reply(200, b'{"value":"1"}')},
            PbxSnapshot({}, dialed=frozenset({MAIN})),
        ),
        ({VARIABLE: Reply(200, b'{"value":"<sips:asterisk@10.0.0.1>"}')}, PbxSnapshot({})),
    ],
)
async def test_what_a_pbx_shows(shown: Mapping[str, Reply], found: PbxSnapshot) -> None:
    """Of playbacks, dialled legs and recordings those that are asked for."""
    assert await snapshot_of(shown) == msgspec.structs.replace(
        found,
        channels={MAIN: "Ringing", CHANNEL: "Up"},
        bridges={f"{ID}.b1": (MAIN,)},
    )


@pytest.mark.parametrize(
    "path", ["channels", "bridges", "playbacks/p1", "recordings/live/v1", VARIABLE]
)
async def test_a_reply_that_is_missing(path: str) -> None:
    """Nothing may be concluded from it."""
    with pytest.raises(PbxUnavailable):
        await snapshot_of({path: LOST})


async def test_a_later_reply_that_is_missing() -> None:
    """Of a dialled leg that exists, what is asked next."""
    pbx = RecordingPbx()
    replies = [Reply(200, b'{"value":"1"}'), LOST]
    pbx.on_ask = lambda request: (
        pbx.shows.update({VARIABLE: replies.pop(0)}) if request.path == VARIABLE else None
    )
    with pytest.raises(PbxUnavailable):
        await take_snapshot(pbx, (), [MAIN])
    assert replies == []


@pytest.mark.parametrize(("failures", "is_read"), [(LIST_TRIES - 1, True), (LIST_TRIES, False)])
async def test_channels_that_cannot_be_listed_for_a_moment(failures: int, is_read: bool) -> None:
    """They are listed again, as no recovery should wait for an INVITE that is not valid UTF-8."""
    pbx = RecordingPbx()
    listed = Reply(200, msgspec.json.encode(SHOWN["channels"]))
    replies = [Reply(500)] * failures + [listed]
    pbx.on_ask = lambda request: (
        pbx.shows.update(channels=replies.pop(0)) if request.path == "channels" else None
    )
    with nullcontext() if is_read else pytest.raises(PbxUnavailable):
        snapshot, _ = await take_snapshot(pbx, ())
        assert snapshot.channels == {MAIN: "Ringing", CHANNEL: "Up"}
    assert len(replies) == (0 if is_read else 1)
