"""What a PBX shows at a moment, asked of it over REST (design section 3.6)."""

import asyncio
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from engine.ari.generated.models import Bridge, Channel
from engine.ari.generated.operations import bridges, channels, playbacks
from engine.ari.request import Request
from engine.calls.recover import Seen
from engine.runtime.ports import Pbx

Seens = TypeVar("Seens")
_channels = msgspec.json.Decoder(list[Channel])
_bridges = msgspec.json.Decoder(list[Bridge])


class PbxAway(Exception):
    """The PBX gave no answer, or none that can be read."""


async def look(pbx: Pbx, waited_for: Iterable[str]) -> tuple[Seen, tuple[Channel, ...]]:
    """See all channels and bridges, and which playbacks are alive; raises PbxAway."""
    seen_channels = await _read(pbx, channels.list_(), _channels)
    seen_bridges = await _read(pbx, bridges.list_(), _bridges)
    alive = await asyncio.gather(*(_alive(pbx, playback) for playback in waited_for))
    seen = Seen(
        channels={channel.id: channel.state for channel in seen_channels},
        playbacks=frozenset(each for each in alive if each),
        bridges={bridge.id: tuple(bridge.channels) for bridge in seen_bridges},
    )
    return seen, tuple(seen_channels)


async def _read(pbx: Pbx, request: Request, decoder: msgspec.json.Decoder[Seens]) -> Seens:
    reply = await pbx.ask(request)
    if not reply.ok:
        raise PbxAway(f"{request.path}: status {reply.status}")
    return decoder.decode(reply.body)


async def _alive(pbx: Pbx, playback: str) -> str | None:
    reply = await pbx.ask(playbacks.get(playback))
    if reply.status == 0:
        raise PbxAway(f"playbacks/{playback}")
    return playback if reply.ok else None
