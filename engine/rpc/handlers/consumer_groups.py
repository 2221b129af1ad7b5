"""Durable reading of call events by groups: any engine serves all slots, out of the store."""

import re
from collections.abc import Iterable

import msgspec
from aiohttp import web

from engine.rpc.json_body import json_response, read_body, read_query
from engine.rpc.problems import NotFound
from engine.store.store import Store
from engine.store.stream import Batch, Consumer, Gap, GroupState, StreamEntry
from wire import consumer_groups as wire
from wire.errors import BadInput
from wire.patterns import EVENT_ID


class _Delivered(msgspec.Struct, frozen=True, omit_defaults=True):
    """As `wire.Delivered`, the event as it was stored: by whichever version told it."""

    id: str
    event: msgspec.Raw
    again: bool = False


class ConsumerGroupHandlers:
    """One method a request."""

    def __init__(self, store: Store, slots: int) -> None:
        self._stream = store.stream
        self._slots = range(slots)

    def routes(self) -> list[web.RouteDef]:
        """Say what is answered where."""
        return [
            web.post("/events/ack", self.acknowledge),
            web.get("/events/groups", self.list),
            web.delete("/events/groups/{group}", self.drop),
        ]

    async def take(self, request: web.Request) -> web.Response:
        """Give a consumer of a group what is due to it; a group is made by reading for it."""
        wanted = read_query(request, wire.ReadEvents)
        reader = Consumer(wanted.group, wanted.consumer, int(wanted.idle * 1000))
        batch = await self._stream.read_group(
            reader, self._slots, int(wanted.wait * 1000), wanted.limit
        )
        return json_response(_shown(batch))

    async def acknowledge(self, request: web.Request) -> web.Response:
        """Note what a group is done with."""
        asked = await read_body(request, wire.AcknowledgeEvents)
        entries: dict[int, list[str]] = {}
        gaps: dict[int, str] = {}
        for place, each in enumerate(asked.ids):
            slot, entry, is_gap = self._parsed(each, place)
            if is_gap:
                gaps[slot] = entry
            else:
                entries.setdefault(slot, []).append(entry)
        done = await self._stream.acknowledge(asked.group, entries, gaps)
        return json_response(wire.Acknowledged(done))

    async def list(self, _request: web.Request) -> web.Response:
        """Tell how all groups stand."""
        return json_response(
            wire.EventGroups(_summed(await self._stream.group_states(self._slots)))
        )

    async def drop(self, request: web.Request) -> web.Response:
        """Forget a group: nothing is kept for it any more."""
        group = request.match_info["group"]
        if not await self._stream.drop_group(group, self._slots):
            raise NotFound(f"no group {group}")
        return json_response({})

    def _parsed(self, given: str, place: int) -> tuple[int, str, bool]:
        found = re.match(EVENT_ID, given)
        slot, gap, entry = found.groups() if found else ("-1", None, "")
        if int(slot) not in self._slots:
            raise BadInput(f"ids[{place}]", "not the id of an event")
        return int(slot), entry, gap is not None


def _shown(batch: Batch) -> dict[str, object]:
    lost = tuple(map(_lost, batch.gaps))
    return {"events": tuple(map(_delivered, batch.entries))} | ({"lost": lost} if lost else {})


def _delivered(entry: StreamEntry) -> _Delivered:
    return _Delivered(f"{entry.slot}.{entry.id}", msgspec.Raw(entry.event), entry.redelivered)


def _lost(gap: Gap) -> wire.LostEvents:
    return wire.LostEvents(gap.slot, gap.first, gap.end, f"{gap.slot}.lost.{gap.end}", gap.max_lost)


def _summed(states: Iterable[GroupState]) -> tuple[wire.EventGroup, ...]:
    found: dict[str, wire.EventGroup] = {}
    for each in states:
        so_far = found.get(each.group, wire.EventGroup(each.group, 0, 0))
        found[each.group] = wire.EventGroup(
            each.group,
            so_far.lag + each.lag,
            so_far.pending + each.pending,
            so_far.lost + each.lost,
        )
    return tuple(found.values())
