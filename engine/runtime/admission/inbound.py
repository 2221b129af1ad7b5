"""Inbound calls: admitted by the route of their number, or rejected before they are answered."""

import re
from collections.abc import Callable

import msgspec
import structlog
from msgspec.structs import replace

from base.tasks import BackgroundTasks
from engine.calls.model.call import Call
from engine.calls.model.call_states import Starting
from engine.calls.model.causes import BUSY, REJECTED, UNSPECIFIED
from engine.calls.model.events import LegAnswered
from engine.calls.model.leg import Leg
from engine.calls.verbs.call_setup import ANSWER_TIMEOUT_MS
from engine.runtime.admission.config import AdmissionConfig, CallIdTails, NewCall
from engine.runtime.admission.inbound_routes import (
    NO_CIRCUIT,
    NO_SUCH_NUMBER,
    FoundRoute,
    InboundRoutes,
)
from engine.runtime.admission.node_selection import ENGINE_CODES, NODE_CODES, NodeSelection
from engine.runtime.agents.account_agents import Caller
from engine.runtime.agents.directory import Directory
from engine.runtime.base.context import EngineContext
from engine.runtime.base.interfaces import CallRejection
from engine.runtime.pbx.incoming_call_arguments import (
    CallerIdentity,
    read_identity,
    strip_parameters,
)
from engine.runtime.pbx_nodes.node import IncomingChannel
from engine.runtime.shard.shard import CallShard
from engine.store.errors import StoreDown
from wire.callbacks.targets import parse_call_target
from wire.decoding.patterns import CALLER_ID
from wire.decoding.texts import printable
from wire.phone_numbers.international_form import international
from wire.rpc import NumberRoute

log = structlog.get_logger()
MAX_NAME_LENGTH = 80
MAX_EXTENSION = 70  # Asterisk's own maximum is 79, of which the slot takes three
ACCOUNT_STOPPED = "account_stopped"
BAD_ROUTE = "bad_route"  # the stored route can't be read
OTHER_ACCOUNT = "other_account"  # the phone of one account calls a number of another
DIAL_LOOP = "dial_loop"  # its number's route dials the number, again and again
# Limits of the account, and what a caller gets: SIP 486 or 480. After a 503, as of a full engine,
# carriers try the next node, where the limit is the same.
ACCOUNT_LIMITS: dict[CallRejection, int] = {
    "live_calls": BUSY,
    "call_rate": UNSPECIFIED,
    "log_quota": UNSPECIFIED,
}


class InboundCalls:
    """Starts the calls of incoming channels."""

    def __init__(
        self,
        context: EngineContext,
        node_selection: NodeSelection,
        settings: AdmissionConfig,
        routes: InboundRoutes,
        directory: Directory | None = None,
    ) -> None:
        self._clock = context.clock
        self._node_selection = node_selection
        self._settings = settings
        self._routes = routes
        self._directory = directory
        self._lines = RefusalLines(context.clock.now_ms)
        self._ids = CallIdTails(context.random_bytes)
        self._rejected = context.metrics.calls.rejected.table("inbound")
        own_codes = (BAD_ROUTE, ACCOUNT_STOPPED, OTHER_ACCOUNT, DIAL_LOOP, *ACCOUNT_LIMITS)
        for code in (*NODE_CODES, *ENGINE_CODES, *own_codes):
            self._rejected[code] += 0  # shown from the start, as alerts watch them
        self._tasks = BackgroundTasks()

    def handle(self, shard: CallShard, channel: IncomingChannel) -> None:
        """Start a call, reject it, or leave it to the next owner of its shard."""
        if self._is_handing_over(shard):
            return
        by_trunk = self._is_by_trunk(channel)
        reason = self._node_selection.admit(shard, by_trunk)
        if reason is not None:
            self._pass_on(shard, channel, reason.code, by_trunk)
            return
        cached = self._routes.cached(channel.to)
        caller = self._cached_caller(channel, cached.value) if cached else None
        region = _cached_region(shard, cached.value) if cached else None
        if cached and caller is not None and region is not None:
            self._start(shard, replace(channel, agent=caller), cached.value, region)
            return
        shard.callers.add(channel.channel)
        self._tasks.start(self._look_up(shard, channel))

    def check_replacement(self, shard: CallShard, channel: str, endpoint: str) -> None:
        """Hang up a leg that has taken a place in a call if it is another account's phone.

        Asterisk has answered and bridged it already; the call goes on as at the end of any leg.
        """
        if self._directory is not None and self._directory.is_phone(endpoint):
            self._tasks.start(self._check_replacement(shard, channel, endpoint, self._directory))

    async def _check_replacement(
        self, shard: CallShard, channel: str, endpoint: str, directory: Directory
    ) -> None:
        live_call = shard.find_by_channel(channel)
        if live_call is None:
            return
        account = live_call.call.account
        caller = await directory.agent_of(account, endpoint)
        if caller.is_foreign:
            self._log_foreign(account, endpoint, caller)
            self._rejected[OTHER_ACCOUNT] += 1
            shard.context.hang_up_channel(channel, REJECTED)

    def _log_foreign(self, account: str, endpoint: str, caller: Caller) -> None:
        if count := self._lines.take(caller.owner, OTHER_ACCOUNT):
            log.warning(
                "phone of another account rejected",
                account=account,
                endpoint=endpoint,
                owner=caller.owner,
                count=count,
            )

    def _pass_on(
        self, shard: CallShard, channel: IncomingChannel, code: str, by_trunk: bool
    ) -> None:
        """Let another engine take the call if this one is full, else reject it."""

        def reject() -> None:
            log.debug("call rejected", node=shard.context.node, code=code)
            self._reject(shard, channel, code, NO_CIRCUIT)

        other = self._node_selection.other_for_inbound(shard, by_trunk)
        if other is None or channel.is_passed_on or len(channel.to) > MAX_EXTENSION:
            reject()
        else:
            shard.context.pass_channel_on(channel.channel, other.slot, channel.to, reject)

    def _is_by_trunk(self, channel: IncomingChannel) -> bool:
        """Return whether a channel is no agent's phone."""
        return self._directory is None or self._directory.is_trunk(channel.endpoint)

    def _is_handing_over(self, shard: CallShard) -> bool:
        """Return whether a call might be answered but not stored; the channel waits in Stasis."""
        context = shard.context
        return context.id in self._node_selection.releasing or not context.lease.holds

    def _cached_caller(self, channel: IncomingChannel, found: FoundRoute | None) -> Caller | None:
        if self._directory is None or found is None:
            return channel.agent
        return self._directory.known_caller(found.route.account, channel.endpoint)

    async def _look_up(self, shard: CallShard, channel: IncomingChannel) -> None:
        try:
            await self._read_and_start(shard, channel)
        finally:
            shard.callers.discard(channel.channel)

    async def _read_and_start(self, shard: CallShard, channel: IncomingChannel) -> None:
        try:
            found = await self._routes.find(channel.to)
        except StoreDown:
            self._refuse(shard, channel, "store_down", NO_CIRCUIT)
            return
        except msgspec.DecodeError as error:
            # Written by another version: an engine of that version may take the call.
            if count := self._lines.take("", BAD_ROUTE):
                log.warning("invalid route", number=channel.to, error=str(error), count=count)
            self._refuse(shard, channel, BAD_ROUTE, NO_CIRCUIT)
            return
        region = ""
        if found is not None:
            account, policy = found.route.account, shard.context.endpoints.policy
            region = await policy.region(account) if policy else ""
            if self._directory is not None:
                agent = await self._directory.agent_of(account, channel.endpoint)
                channel = replace(channel, agent=agent)
        if channel.channel in shard.callers:  # else the caller has given up meanwhile
            self._start(shard, channel, found, region)

    def _start(
        self, shard: CallShard, channel: IncomingChannel, found: FoundRoute | None, region: str
    ) -> None:
        context = shard.context
        if self._is_handing_over(shard) or shard.find_by_channel(channel.channel) is not None:
            return  # found twice while its route was read: by its event and by a recovery
        if found is None:
            if count := self._lines.take("", "no_route"):
                log.warning(
                    "no route",
                    number=channel.to,
                    node=context.node,
                    slot=context.slot,
                    count=count,
                )
            self._refuse(shard, channel, "no_route", NO_SUCH_NUMBER)
            return
        now, route = self._clock.now_ms(), found.route
        if self._refuse_for_account(shard, channel, route.account):
            return
        new = self._settings.new_call(context, route.account, self._ids.new(now), now)
        call = inbound_call(new, channel, self._identity(shard, channel, route), found, region)
        if self._node_selection.legs.loops.closes_one(call):
            if count := self._lines.take(call.account, DIAL_LOOP):
                log.warning("dial loop cut", account=call.account, number=call.to, count=count)
            self._refuse(shard, channel, DIAL_LOOP, REJECTED)
            return
        if channel.is_late_offer:
            shard.late_offers.expect(channel.channel)
        live_call = shard.start_call(call)
        if route.is_recorded and new.recording_destination is None:
            log.error("call not recorded: no archive", call_id=new.id)
        if channel.is_up:
            shard.feed(live_call, LegAnswered(channel.channel))

    def _refuse_for_account(self, shard: CallShard, channel: IncomingChannel, account: str) -> bool:
        """Refuse a call that its account may not have now; return whether it is refused."""
        policy = shard.context.endpoints.policy
        if channel.agent.is_foreign:
            self._log_foreign(account, channel.endpoint, channel.agent)
            self._refuse(shard, channel, OTHER_ACCOUNT, REJECTED)
            return True
        if policy is not None and policy.is_stopped(account):
            if count := self._lines.take(account, ACCOUNT_STOPPED):
                log.info(
                    "call of a stopped account rejected",
                    account=account,
                    endpoint=channel.endpoint,
                    count=count,
                )
            self._refuse(shard, channel, ACCOUNT_STOPPED, REJECTED)
            return True
        if policy is not None and (limit := policy.admit_inbound(account)):
            if count := self._lines.take(account, limit):
                log.info(
                    "call over a limit of its account",
                    account=account,
                    code=limit,
                    endpoint=channel.endpoint,
                    count=count,
                )
            self._refuse(shard, channel, limit, ACCOUNT_LIMITS[limit])
            return True
        return False

    def _identity(
        self, shard: CallShard, channel: IncomingChannel, route: NumberRoute
    ) -> CallerIdentity:
        """Return who calls: a trunk says it in headers of the INVITE.

        A phone can send any: only the directory says which number and name it has.
        """
        if self._is_by_trunk(channel):
            return read_identity(channel.arguments, channel.from_)
        agent, policy = channel.agent, shard.context.endpoints.policy
        number = agent.caller_id
        if policy is not None:
            number = policy.agent_caller_id(route.account, number)
        return CallerIdentity("agent" if agent.agent_id else "phone", number, agent.name)

    def _refuse(self, shard: CallShard, channel: IncomingChannel, code: str, cause: int) -> None:
        """Reject a call that was admitted before its route was known."""
        self._node_selection.give_back(shard, self._is_by_trunk(channel))
        self._reject(shard, channel, code, cause)

    def _reject(self, shard: CallShard, channel: IncomingChannel, code: str, cause: int) -> None:
        self._rejected[code] += 1
        shard.context.hang_up_channel(channel.channel, cause)


def _cached_region(shard: CallShard, found: FoundRoute | None) -> str | None:
    policy = shard.context.endpoints.policy
    if found is None or policy is None:
        return ""
    return policy.known_region(found.route.account)


def inbound_call(
    new: NewCall,
    channel: IncomingChannel,
    identity: CallerIdentity,
    found: FoundRoute,
    region: str = "",
) -> Call:
    """Build the call of an incoming channel: it is answered, then its number's action runs.

    `region` is that of callers' numbers without a country.
    """
    route, agent, now = found.route, channel.agent, new.created_ms
    number = international(strip_parameters(identity.number), region)
    caller = _printable(number)
    target = route.status_callback_url
    leg = Leg(
        channel.channel,
        caller,
        "created",
        now,
        agent_id=agent.agent_id or None,
        agent_name=agent.name,
    )
    name = printable(identity.name)[:MAX_NAME_LENGTH]
    # Some carriers send the number as the name, too, in any spelling.
    is_named = not identity.is_withheld and any(map(str.isalpha, name))
    return Call(
        id=new.id,
        account=route.account,
        direction="inbound",
        from_=caller,
        to=_printable(found.number),
        main=channel.channel,
        legs=(leg,),
        state=Starting(route.action, now + ANSWER_TIMEOUT_MS, fallback=route.fallback),
        created_ms=now,
        must_end_ms=new.must_end_ms,
        # Callers can send any text: only a number may be shown to others.
        caller_id=caller if re.search(CALLER_ID, number) else "",
        custom_data=route.custom_data,
        recording_destination=new.recording_destination,
        recording_enabled=new.recording_destination is not None and route.is_recorded,
        labels=route.labels,
        callback_target=parse_call_target(target, "statusCallbackUrl") if target else None,
        privacy=identity.is_withheld,
        trunks=new.trunks,
        diversion=tuple(
            replace(each, number=_printable(international(each.number, region)))
            for each in identity.diversion
        ),
        answer_deferred=not (route.answer or channel.is_up),
        caller_name=name if is_named else "",
        region=region,
        caller_kind=identity.kind,
    )


def _printable(text: str) -> str:
    """Drop control characters, which a SIP header may contain: terminals must not obey them."""
    printable = text if text.isprintable() else "".join(filter(str.isprintable, text))
    return printable[:MAX_NAME_LENGTH]


INTERVAL_MS = 1_000
MAX_KNOWN = 1_000  # accounts and reasons; the names of accounts are those of routes


class RefusalLines:
    """Counts refusals that have no line of their own: the next line has their number."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._known: dict[tuple[str, str], tuple[int, int]] = {}  # when the last line was, count

    def take(self, account: str, reason: str) -> int:
        """Return how many refusals a line is for; 0: none is due."""
        now_ms, key = self._now_ms(), (account, reason)
        at_ms, count = self._known.pop(key, (now_ms - INTERVAL_MS, 0))
        # The clock may have been set back.
        is_due = not 0 <= now_ms - at_ms < INTERVAL_MS
        self._known[key] = (now_ms, 0) if is_due else (at_ms, count + 1)
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return count + 1 if is_due else 0
