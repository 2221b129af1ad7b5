"""What a PBX shows at a moment, asked of it over REST (design section 3.6)."""

import asyncio
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from engine.ari.generated.models import Bridge, Channel
from engine.ari.generated.operations import bridges, channels, playbacks, recordings
from engine.ari.request import Request
from engine.calls.recovery.snapshot import Seen
from engine.runtime.base.ports import Pbx
from engine.runtime.pbx.ari_requests import DIALED_VARIABLE

Decoded = TypeVar("Seens")
_channels = msgspec.json.Decoder(list[Channel])
_bridges = msgspec.json.Decoder(list[Bridge])


class PbxUnavailable(Exception):
    """The PBX gave no answer, or none that can be read."""


async def take_snapshot(
    pbx: Pbx, waited_for: Iterable[str], rung: Iterable[str] = (), recorded: Iterable[str] = ()
) -> tuple[Seen, tuple[Channel, ...]]:
    """See all channels and bridges, what plays and records, who was called; raises PbxAway."""
    seen_channels = await query(pbx, channels.list_(), _channels)
    seen_bridges = await query(pbx, bridges.list_(), _bridges)
    alive = await asyncio.gather(*(_found(pbx, playbacks.get(e), e) for e in waited_for))
    called = await asyncio.gather(*(_found(pbx, _mark(leg), leg) for leg in rung))
    live = await asyncio.gather(*(_found(pbx, recordings.get_live(e), e) for e in recorded))
    seen = Seen(
        channels={channel.id: channel.state for channel in seen_channels},
        playbacks=frozenset(each for each in alive if each),
        bridges={bridge.id: tuple(bridge.channels) for bridge in seen_bridges},
        called=frozenset(each for each in called if each),
        messages=frozenset(each for each in live if each),
    )
    return seen, tuple(seen_channels)


async def query(pbx: Pbx, request: Request, decoder: msgspec.json.Decoder[Decoded]) -> Decoded:
    """Read what a PBX answers; raises PbxAway."""
    reply = await pbx.ask(request)
    if not reply.ok:
        raise PbxUnavailable(f"{request.path}: status {reply.status}")
    try:
        return decoder.decode(reply.body)
    except msgspec.DecodeError as error:
        raise PbxUnavailable(f"{request.path}: {error}") from None


def _mark(leg: str) -> Request:
    return channels.get_channel_var(leg, variable=DIALED_VARIABLE)


async def _found(pbx: Pbx, request: Request, about: str) -> str | None:
    reply = await pbx.ask(request)
    if reply.status == 0:
        raise PbxUnavailable(request.path)
    return about if reply.ok else None
