"""Generates rows of call records over a year, from call kinds drawn with a fixed seed."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from api.cdrs.query.bloom_marks import signature_bits
from api.cdrs.row_mapping import AgentRow, agent_rows, cdr_row, participant_numbers
from tests.harness.api.cdrs.records import NOON_MS, leg, missed, record, recording
from wire.events.record import CallRecord, LegRecord

YEAR_MS = 365 * 86_400_000
KINDS = 5_000
LEVELS = ("disposition1", "disposition2", "disposition3")
Tables = dict[str, list[tuple[Any, ...]]]
encode = msgspec.json.Encoder().encode


class Kind(Struct, frozen=True):
    """A call without its time, with its filter columns."""

    record: CallRecord
    row: dict[str, Any]
    agents: list[AgentRow]
    numbers: dict[str, bool]


def kinds(seed: int = 7) -> list[Kind]:
    """Return random kinds of calls."""
    chance = random.Random(seed)
    drawn = (_draw_record(chance, number) for number in range(KINDS))
    return [
        Kind(each, cdr_row(each), agent_rows(each), participant_numbers(each)) for each in drawn
    ]


def _draw_record(chance: random.Random, number: int) -> CallRecord:
    agent = f"{chance.randrange(200)}"
    customer = f"+4790{number:06}"
    labels = {"callPath": f"path{chance.randrange(10)}"}
    if chance.random() < 0.7:
        labels["clientId"] = f"client{chance.randrange(2_000)}"
    if chance.random() < 0.3:
        labels["obdType"] = f"obd{chance.randrange(5)}"
    legs: tuple[LegRecord, ...] = (leg(customer),)
    if chance.random() < 0.4:
        legs += (leg(f"agent:{agent}", agent_id=agent, agent_name=f"Agent {agent}"),)
    purpose = chance.choices(("call", "voicemail", ""), (30, 2, 68))[0]
    make = record if chance.random() < 0.8 else missed
    made = make(number, labels=labels)
    return replace(
        made,
        caller_id=f"+472193{chance.randrange(20):04}",
        to=customer,
        dialed_numbers=(customer,),
        legs=legs if made.answered_ms else (),
        recordings=(recording(purpose),) if purpose and made.answered_ms else (),
        custom_data={"order": number},
    )


def chunks(count: int, size: int = 20_000) -> Iterator[Tables]:
    """Yield rows by table in chunks, in order of call start."""
    drawn, chance = kinds(), random.Random(8)
    for first in range(0, count, size):
        yield _chunk(drawn, chance, range(first, min(count, first + size)), count)


def _chunk(drawn: Sequence[Kind], chance: random.Random, places: range, count: int) -> Tables:
    tables: Tables = {name: [] for name in ("cdrs", "cdr_bodies", "cdr_agents", "cdr_numbers")}
    for place in places:
        kind = drawn[chance.randrange(KINDS)]
        account = "acme" if place % 10 else f"a{place % 97}"
        began_ms = NOON_MS - (count - place) * YEAR_MS // count
        call = replace(
            kind.record, account_id=account, call_id=f"0-pbx1-call{place:08}", created_ms=began_ms
        )
        cdr_id = place + 1
        row = {**kind.row, "account_id": account, "req_id": call.call_id, "started_ms": began_ms}
        levels = _dispositions(chance)
        marks = row.pop("marks") | sum(map(signature_bits, LEVELS, levels))
        tables["cdrs"].append((cdr_id, *row.values(), *levels, marks))
        tables["cdr_bodies"].append((cdr_id, encode(call)))
        tables["cdr_agents"] += [
            (cdr_id, each.agent_id, account, each.agent_name, began_ms, call.direction,
             each.is_answered, each.ring_ms, each.talk_ms, each.hold_ms, marks)
            for each in kind.agents
        ]  # fmt: skip
        tables["cdr_numbers"] += [
            (account, number, began_ms, cdr_id, is_dialed, marks)
            for number, is_dialed in kind.numbers.items()
        ]
    return tables


def _dispositions(chance: random.Random) -> tuple[str | None, ...]:
    if chance.random() < 0.5:
        return None, None, None
    level = chance.randrange(200)
    return f"one{level % 10}", f"two{level % 50}", f"three{level}"
