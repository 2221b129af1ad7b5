"""Which calls are wanted: the filters of the list, read and valid."""

from typing import Any

from msgspec import Struct, structs

from api.cdrs.query.signatures import BIT_WIDTHS, agent_signature, signature_bits, signature_mask

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
NUMBERS = ("dialed_number", "number")
TIMES = ("start_ms", "end_ms", "newest_id")
PURPOSES = {"call": "has_recording", "voicemail": "has_voicemail"}
PLACEHOLDER = "some"  # stands for any text


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

    @property
    def columns(self) -> list[str]:
        """Name the columns that must have a value, in the order above."""
        return [name for name in COLUMNS if getattr(self, name)]

    @property
    def names(self) -> frozenset[str]:
        """Name all that are given, but time's."""
        given = {
            "is_answered": self.is_answered is not None,
            "purpose": bool(self.purpose),
            "number": bool(self.dialed_number or self.number),
            "agent_names": bool(self.agent_names),
        }
        return frozenset((*self.columns, *(name for name, is_given in given.items() if is_given)))

    @property
    def signed(self) -> dict[str, str | bool]:
        """Give what columns must have, of those that leave a mark."""
        found = {name: getattr(self, name) for name in self.columns if name in BIT_WIDTHS}
        if self.is_answered is not None:
            found["is_answered"] = self.is_answered
        if self.purpose:
            found[PURPOSES[self.purpose]] = True
        return found

    @property
    def shape(self) -> "Filters":
        """Give filters that ask for the same, of some values: a statement is made for a form."""
        texts = {name: PLACEHOLDER for name in (*COLUMNS, *NUMBERS) if getattr(self, name)}
        times = {name: 0 for name in TIMES if getattr(self, name) is not None}
        agents = (PLACEHOLDER,) * len(self.agent_names)
        return structs.replace(self, account_id=PLACEHOLDER, agent_names=agents, **texts, **times)

    @property
    def parameters(self) -> dict[str, Any]:
        """Give what the parameters of its form's statements stand for."""
        agents = {agent_parameter(place): name for place, name in enumerate(self.agent_names)}
        marked = self.signed
        return {
            **structs.asdict(self),
            **agents,
            "mask": signature_mask(marked),
            "marks": sum(signature_bits(name, value) for name, value in marked.items()),
            "agent_marks": agent_signature(self.agent_names),
        }


def agent_parameter(place: int) -> str:
    """Name the parameter for one of several agents' names."""
    return f"agent{place}"
