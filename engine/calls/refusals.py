"""What a live call can't be asked to do now, and why: told to who asks, before anything happens."""

from typing import Literal

from msgspec import Struct


class Refusal(Struct, frozen=True):
    """Why a request can't be done: `missing` what it names, a `conflict` with what goes on."""

    kind: Literal["missing", "conflict"]
    code: str
    detail: str
