"""`switchroom engine`: runs an engine."""

from functools import partial

from engine.app.engine import Engine
from engine.config import Settings
from engine.program import Failure, Failures, listen_failure, run_program
from engine.rpc.server import BindFailed
from engine.store.errors import StoreDown
from engine.store.redis.address import parse_address
from engine.store.shard_layout import SlotsMismatch
from wire.settings import load


def engine() -> None:
    """Run an engine until SIGTERM; another engine continues its calls.

    Example: switchroom engine
    """
    run_program(partial(load, Settings), Engine, _FAILURES)


def _store_down(error: StoreDown, settings: Settings) -> str:
    where = parse_address(settings.redis_url).redacted
    return f"the store can't be reached at {where}: {error}"


_FAILURES: Failures = {
    StoreDown: Failure("store_down", _store_down),
    SlotsMismatch: Failure("slots_differ"),
    BindFailed: listen_failure("SWITCHROOM_RPC_HOST and SWITCHROOM_RPC_PORT"),
}
