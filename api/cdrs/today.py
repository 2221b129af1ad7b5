"""Today's statistics of an agent, since midnight UTC."""

from msgspec import Struct

from api.cdrs.store import CdrStore
from api.common.timestamps import format_ms

DAY_MS = 86_400_000


class TodayStats(Struct, frozen=True, rename="camel"):
    """The calls of an agent, with the agent's own times, in milliseconds."""

    agent_id: str
    start_time: str
    end_time: str
    total: int
    answered: int
    missed: int
    inbound: int
    outbound: int
    ring_ms: int
    talk_ms: int
    hold_ms: int
    average_talk_ms: int
    longest_talk_ms: int


async def today_stats(cdrs: CdrStore, account_id: str, agent_id: str, now_ms: int) -> TodayStats:
    midnight_ms = now_ms - now_ms % DAY_MS
    sums = await cdrs.agent_totals(account_id, agent_id, midnight_ms, midnight_ms + DAY_MS)
    answered = sum(each.calls for each in sums if each.is_answered)
    total = sum(each.calls for each in sums)
    inbound = sum(each.calls for each in sums if each.direction == "inbound")
    talk_ms = sum(each.talk_ms for each in sums)
    return TodayStats(
        agent_id=agent_id,
        start_time=format_ms(midnight_ms),
        end_time=format_ms(now_ms),
        total=total,
        answered=answered,
        missed=total - answered,
        inbound=inbound,
        outbound=total - inbound,
        ring_ms=sum(each.ring_ms for each in sums),
        talk_ms=talk_ms,
        hold_ms=sum(each.hold_ms for each in sums),
        average_talk_ms=talk_ms // answered if answered else 0,
        longest_talk_ms=max((each.longest_talk_ms for each in sums), default=0),
    )
