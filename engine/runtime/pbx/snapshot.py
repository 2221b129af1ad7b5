"""Reads a snapshot of a PBX's channels and bridges over ARI (docs/architecture.md)."""

import asyncio
import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from engine.ari.generated.models import Bridge, Channel, Variable
from engine.ari.generated.operations import bridges, channels, playbacks, recordings
from engine.ari.request import Reply, Request
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.runtime.base.interfaces import Pbx
from engine.runtime.pbx.ari_requests import DIALED_VARIABLE

Decoded = TypeVar("Decoded")
_channels = msgspec.json.Decoder(list[Channel])
_bridges = msgspec.json.Decoder(list[Bridge])
_variable = msgspec.json.Decoder(Variable)
# The From of a channel's INVITE: until it is dialled, that of PJSIP's `default_from_user`.
FROM_VARIABLE = "CHANNEL(pjsip,local_uri)"
_BEFORE_DIAL = re.compile(r"<sips?:asterisk@")
HOLD_VARIABLE = "CHANNEL(rtp,hold,audio)"  # 1 while the phone holds
# A channel whose extension is not valid UTF-8 can't be listed, nor others meanwhile: the dialplan
# sends it on within milliseconds (docs/asterisk.md).
LIST_TRIES, LIST_INTERVAL_MS = 10, 20
UNLISTABLE = 500


class PbxUnavailable(Exception):
    """The PBX gave no reply, or an unreadable one."""


async def take_snapshot(
    pbx: Pbx,
    playback_ids: Iterable[str],
    dialled_legs: Iterable[str] = (),
    recording_names: Iterable[str] = (),
) -> tuple[PbxSnapshot, tuple[Channel, ...]]:
    """Return a snapshot and all channels; raises PbxUnavailable.

    Of playbacks, dialled legs and recordings it reads only the ids that are given.
    """
    channel_list = await _list_channels(pbx)
    bridge_list = await query(pbx, bridges.list_(), _bridges)
    alive = await asyncio.gather(*(_if_exists(pbx, playbacks.get(e), e) for e in playback_ids))
    called = await asyncio.gather(*(_if_dialled(pbx, leg) for leg in dialled_legs))
    live = await asyncio.gather(
        *(_if_exists(pbx, recordings.get_live(e), e) for e in recording_names)
    )
    snapshot = PbxSnapshot(
        channels={channel.id: channel.state for channel in channel_list},
        playbacks=frozenset(each for each in alive if each),
        bridges={bridge.id: tuple(bridge.channels) for bridge in bridge_list},
        dialed=frozenset(each for each in called if each),
        voicemails=frozenset(each for each in live if each),
    )
    return snapshot, tuple(channel_list)


async def _list_channels(pbx: Pbx) -> list[Channel]:
    for _ in range(LIST_TRIES):
        reply = await pbx.ask(channels.list_())
        if reply.status != UNLISTABLE:
            break
        await asyncio.sleep(LIST_INTERVAL_MS / 1000)
    return _decoded(channels.list_(), reply, _channels)


async def query(pbx: Pbx, request: Request, decoder: msgspec.json.Decoder[Decoded]) -> Decoded:
    """Send a request and decode its reply; raises PbxUnavailable."""
    return _decoded(request, await pbx.ask(request), decoder)


def _decoded(request: Request, reply: Reply, decoder: msgspec.json.Decoder[Decoded]) -> Decoded:
    if not reply.ok:
        raise PbxUnavailable(f"{request.path}: status {reply.status}")
    try:
        return decoder.decode(reply.body)
    except msgspec.DecodeError as error:
        raise PbxUnavailable(f"{request.path}: {error}") from None


async def _if_exists(pbx: Pbx, request: Request, subject: str) -> str | None:
    reply = await pbx.ask(request)
    if reply.status == 0:
        raise PbxUnavailable(request.path)
    return subject if reply.ok else None


async def _if_dialled(pbx: Pbx, leg: str) -> str | None:
    """Return a leg that was dialled: with the mark alone, its engine died before the dial."""
    mark = channels.get_channel_var(leg, variable=DIALED_VARIABLE)
    if await _if_exists(pbx, mark, leg) is None:
        return None
    reply = await pbx.ask(channels.get_channel_var(leg, variable=FROM_VARIABLE))
    if reply.status == 0:
        raise PbxUnavailable(leg)
    is_known = reply.ok and _BEFORE_DIAL.search(_variable.decode(reply.body).value)
    return None if is_known else leg


async def is_held_by_phone(pbx: Pbx, leg: str) -> bool:
    """Return whether a leg exists whose phone holds; raises PbxUnavailable."""
    reply = await pbx.ask(channels.get_channel_var(leg, variable=HOLD_VARIABLE))
    if reply.status == 0:
        raise PbxUnavailable(leg)
    return reply.ok and _variable.decode(reply.body).value == "1"
