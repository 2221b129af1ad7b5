"""One try to deliver an event: where it goes now, signed, and what follows from the outcome."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from time import perf_counter

import msgspec
import structlog
from msgspec import Struct

from engine.callbacks.call_queue import Line
from engine.callbacks.messages import Carrier, Delivered, Failed, Gone, Outcome, Parcel
from engine.callbacks.retry_schedule import Schedule
from engine.callbacks.target_queue import Pace
from engine.callbacks.targets import Account, Accounts
from engine.observe.metrics import Meter
from engine.store.errors import StoreDown
from wire.callback_targets import AUTO_SET, ApiRequest, Grpc, Https, Place

log = structlog.get_logger()
KINDS: Mapping[type, str] = {Https: "https", Grpc: "grpc", ApiRequest: "request"}


class Verdict(Struct, frozen=True):
    """What follows from a try: the event has arrived, is tried again, or is given up, or all are.

    `is_answered` tells the circuit how the target does; None: it was not asked.
    """

    is_answered: bool | None
    reason: str = ""  # why it has not arrived
    after_s: float | None = None  # to be tried again
    rest: str = ""  # why the call's events are all given up
    pace: Pace | None = None


class _Moment(Struct, frozen=True):
    timestamp: int


_moment = msgspec.json.Decoder(_Moment).decode


class Delivery:
    """Tries; `clock` gives wall-clock seconds, `now_ms` the time by which events are dated."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        accounts: Accounts,
        carriers: Mapping[type, Carrier],
        schedule: Schedule,
        *,
        clock: Callable[[], float],
        now_ms: Callable[[], int],
        random: Callable[[], float],
        meter: Meter,
    ) -> None:
        self._accounts = accounts
        self._carriers = carriers
        self._schedule = schedule
        self._clock = clock
        self._now_ms = now_ms
        self._random = random
        self._counts = meter.callbacks

    async def deliver(self, line: Line, event: tuple[int, bytes]) -> Verdict:
        """Try to deliver a line's first event; raises StoreDown before it has."""
        name, _, target = line.way.partition(" ")
        account = await self._accounts.of(name)
        place = await self._accounts.place(name, target)
        if place is None:
            is_stopped = account is not None and account.is_stopped
            return self._all_given_up(line, "stopped" if is_stopped else "no_target")
        parcel = self._parcel(name, account, f"{line.call_id}.e{event[0]}", event[1])
        outcome = await self._tried(line, place, parcel)
        verdict = self._verdict(line, outcome, parcel.id)
        if isinstance(outcome, Gone) and target == AUTO_SET:
            with suppress(StoreDown):  # it says so again
                await self._accounts.stop(name, place)
        return msgspec.structs.replace(verdict, pace=_pace(account))

    async def pace(self, line: Line) -> Pace:
        """Tell what a line's target bears; raises StoreDown."""
        return _pace(await self._accounts.of(line.way.partition(" ")[0]))

    def _parcel(self, name: str, account: Account | None, event_id: str, body: bytes) -> Parcel:
        headers = self._accounts.signer(account).headers(event_id, self._clock(), body)
        return Parcel(name, event_id, body, headers)

    async def _tried(self, line: Line, place: Place, parcel: Parcel) -> Outcome:
        kind = KINDS[type(place)]
        if line.tries:
            self._counts.retried.of()[kind] += 1
        elif not line.is_due:
            late_ms = self._now_ms() - _moment(parcel.body).timestamp
            self._counts.handed_over.of(kind).observe(max(0, late_ms) / 1000)
        began_s = perf_counter()
        outcome = await self._carriers[type(place)].deliver(place, parcel)
        if isinstance(outcome, Failed):
            self._counts.failed.of(kind)[outcome.reason] += 1
        else:
            self._counts.delivered.of()[kind] += 1
        self._counts.tried.of(kind).observe(perf_counter() - began_s)
        return outcome

    def _verdict(self, line: Line, outcome: Outcome, event_id: str) -> Verdict:
        match outcome:
            case Delivered():
                return Verdict(is_answered=True)
            case Gone():
                return msgspec.structs.replace(self._all_given_up(line, "gone"), is_answered=True)
            case Failed(reason, asked_s):
                tries, age_s = line.tries + 1, line.age_ms / 1000
                after_s = self._schedule.after_s(tries, age_s, asked_s, self._random())
                said = log.bind(call_id=line.call_id, event=event_id, reason=reason, tries=tries)
                if after_s is None:
                    self._counts.dead.of()[reason] += 1
                    said.warning("callback given up")
                else:
                    said.info("callback failed", again_s=round(after_s, 1))
                return Verdict(is_answered=False, reason=reason, after_s=after_s)

    def _all_given_up(self, line: Line, reason: str) -> Verdict:
        self._counts.dead.of()[reason] += 1
        log.warning("callbacks given up", call_id=line.call_id, reason=reason)
        return Verdict(is_answered=None, rest=reason)


def _pace(account: Account | None) -> Pace:
    return Pace() if account is None else Pace(account.concurrency, account.per_s)
