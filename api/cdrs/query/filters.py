"""The filters of a list of calls, parsed and valid."""

from typing import Any

from msgspec import Struct, structs

from api.cdrs.query.bloom_marks import BIT_WIDTHS, agent_signature, signature_bits, signature_mask

# Columns of the same names; first those with the most distinct values.
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
PLACEHOLDER = "some"  # stands for any text in the shape of filters


class Filters(Struct, frozen=True, omit_defaults=True):
    """What a call must match; empty means any. The range includes `start_ms`, not `end_ms`."""

    account_id: str
    req_id: str = ""
    client_id: str = ""
    caller_id: str = ""
    to_number: str = ""
    dialed_number: str = ""
    number: str = ""  # of any participant
    call_path: str = ""
    obd_type: str = ""
    disposition1: str = ""
    disposition2: str = ""
    disposition3: str = ""
    is_answered: bool | None = None
    purpose: str = ""
    agent_names: tuple[str, ...] = ()
    agent_id: str = ""  # whose records alone a token may read
    start_ms: int | None = None
    end_ms: int | None = None
    newest_id: int | None = None  # excludes calls that are written later

    @property
    def columns(self) -> list[str]:
        """The columns that are filtered, in the order above."""
        return [name for name in COLUMNS if getattr(self, name)]

    @property
    def names(self) -> frozenset[str]:
        """All filters that are set, except the time range."""
        is_set = {
            "is_answered": self.is_answered is not None,
            "purpose": bool(self.purpose),
            "number": bool(self.dialed_number or self.number),
            "agent_names": bool(self.agent_names),
            "agent_id": bool(self.agent_id),
        }
        return frozenset((*self.columns, *(name for name, is_given in is_set.items() if is_given)))

    @property
    def signed(self) -> dict[str, str | bool]:
        """The values of the filtered columns that are part of the signature."""
        found = {name: getattr(self, name) for name in self.columns if name in BIT_WIDTHS}
        if self.is_answered is not None:
            found["is_answered"] = self.is_answered
        if self.purpose:
            found[PURPOSES[self.purpose]] = True
        return found

    @property
    def shape(self) -> "Filters":
        """The same filters with placeholder values: statements are built and cached by shape."""
        given = (*COLUMNS, *NUMBERS, "agent_id")
        texts = {name: PLACEHOLDER for name in given if getattr(self, name)}
        times = {name: 0 for name in TIMES if getattr(self, name) is not None}
        agents = (PLACEHOLDER,) * len(self.agent_names)
        return structs.replace(self, account_id=PLACEHOLDER, agent_names=agents, **texts, **times)

    @property
    def parameters(self) -> dict[str, Any]:
        """The values of the parameters in the statements of this shape."""
        agents = {agent_parameter(index): name for index, name in enumerate(self.agent_names)}
        signed = self.signed
        return {
            **structs.asdict(self),
            **agents,
            "mask": signature_mask(signed),
            "marks": sum(signature_bits(name, value) for name, value in signed.items()),
            "agent_marks": agent_signature(self.agent_names),
        }


def agent_parameter(index: int) -> str:
    """Return the name of the parameter for one of several agent names."""
    return f"agent{index}"
