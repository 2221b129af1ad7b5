"""The switch of an engine, with what it knows of agents and of whom accounts may call."""

from contextlib import AsyncExitStack

from engine.config import Settings
from engine.observe.telemetry import Instruments
from engine.runtime.admission.gate import Gate
from engine.runtime.admission.limits import Terms
from engine.runtime.admission.routes import Told, nobody
from engine.runtime.admission.settings import Rules
from engine.runtime.agents.directory import Directory
from engine.runtime.agents.status import Roster
from engine.runtime.base.clock import Clock
from engine.runtime.cluster.membership import Peers
from engine.runtime.policy.dial_policy import TermsBook
from engine.runtime.service import Switch
from engine.store.store import Store


def roster(  # noqa: PLR0913, PLR0917 - the parts that an engine is put together from
    settings: Settings,
    house: AsyncExitStack,
    store: Store,
    clock: Clock,
    peers: Peers,
    seen: Instruments,
    told: Told = nobody,
) -> Roster:
    """Build the directory of agents and the switch, without nodes yet."""
    directory = Directory(store, clock.now_ms, settings.agent_endpoint, settings.trunk_endpoint)
    house.push_async_callback(directory.close)
    told_as = (settings.recordings_public_url or settings.recordings_url).rstrip("/") + "/"
    longest_ms = settings.longest_call_s * 1000
    trunk = Terms(1, settings.trunk_max_calls, settings.trunk_max_calls_per_s)
    rules = Rules(settings.slots, longest_ms, settings.caller_id, told_as, trunk)
    gate = Gate(clock, settings.max_calls_per_s, settings.max_calls)
    switch = Switch(
        store,
        clock,
        gate,
        rules,
        directory=directory,
        others=peers,
        meter=seen.meter,
        told=told,
    )
    if seen.traces is not None:
        switch.follow = seen.traces.follow
    return Roster(directory, switch)


def terms(settings: Settings, house: AsyncExitStack, store: Store, clock: Clock) -> TermsBook:
    """Build what knows what accounts may dial."""
    book = TermsBook(store.terms, clock.now_ms, settings.caller_id)
    house.push_async_callback(book.close)
    return book
