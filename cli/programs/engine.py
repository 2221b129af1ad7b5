"""`switchroom engine`: runs an engine."""

from functools import partial

from msgspec.structs import astuple

from base.listen import BindFailed
from base.program import Failure, Failures, listen_failure, run_program
from base.settings import load
from cli.doctor.checks import EngineAddress, check_settings, run_checks
from engine.app.engine import Engine
from engine.config import Settings
from engine.store.errors import StoreDown
from engine.store.redis.address import parse_address
from engine.store.shard_layout import SlotsMismatch
from wire.cluster import DoctorFinding


def engine() -> None:
    """Run an engine until SIGTERM; another engine continues its calls.

    Example: switchroom engine
    """
    run_program(partial(load, Settings), partial(Engine, check=_check), _FAILURES)


async def _check(settings: Settings, address: EngineAddress) -> list[DoctorFinding]:
    """Run the checks of `switchroom doctor` with the settings of this engine."""
    found = [*check_settings(settings), *await run_checks(settings, address)]
    return [DoctorFinding(*astuple(each)) for each in found]


def _store_down(error: StoreDown, settings: Settings) -> str:
    where = parse_address(settings.redis_url).redacted
    return f"the store can't be reached at {where}: {error}"


_FAILURES: Failures = {
    StoreDown: Failure("store_down", _store_down),
    SlotsMismatch: Failure("slots_differ"),
    BindFailed: listen_failure("SWITCHROOM_RPC_HOST and SWITCHROOM_RPC_PORT"),
}
