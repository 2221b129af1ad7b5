"""Which calls are wanted: the filters of the list, read and valid."""

from msgspec import Struct

# Columns of the same names, those that the fewest calls share first.
COLUMNS = (
    "req_id",
    "client_id",
    "disposition3",
    "to_number",
    "disposition2",
    "disposition1",
    "obd_type",
    "call_path",
    "caller_id",
)


class Filters(Struct, frozen=True, omit_defaults=True):
    """What a call must have; empty means any. From `start_ms` on, until before `end_ms`."""

    account_id: str
    req_id: str = ""
    client_id: str = ""
    caller_id: str = ""
    to_number: str = ""
    dialed_number: str = ""
    number: str = ""  # of anybody who took part
    call_path: str = ""
    obd_type: str = ""
    disposition1: str = ""
    disposition2: str = ""
    disposition3: str = ""
    is_answered: bool | None = None
    purpose: str = ""
    agent_names: tuple[str, ...] = ()
    start_ms: int | None = None
    end_ms: int | None = None
    newest_id: int | None = None  # none that was written later

    def columns(self) -> dict[str, str]:
        """Give the columns that must have a value, in the order above."""
        found = {name: getattr(self, name) for name in COLUMNS}
        return {name: value for name, value in found.items() if value}
