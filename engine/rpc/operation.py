"""One RPC operation, and short names to declare it with."""

from functools import partial
from typing import Any

from msgspec import Struct


class Operation(Struct, frozen=True):
    """One operation; the path is below /rpc/v1, `handler` names the method that serves it."""

    method: str
    path: str
    handler: str
    summary: str
    response: Any = None
    request: Any = None
    status: int = 200


get = partial(Operation, "get")
post = partial(Operation, "post")
patch = partial(Operation, "patch")
put = partial(Operation, "put")
delete = partial(Operation, "delete")
