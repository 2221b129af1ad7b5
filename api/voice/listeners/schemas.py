"""Shapes of listeners; requests and responses are the engine's (`wire.listeners`)."""

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field

from api.common.timestamps import format_ms
from wire.listeners import Listener

MAX_WAIT_S = 20


class RequestsQuery(BaseModel):
    """Which requests of a listener to wait for, and how long."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: str = Field(
        "",
        pattern="^([0-9]{1,16}-[0-9]{1,16})?$",
        description="The `after` of the previous response; empty: from the first request.",
    )
    wait: int = Field(MAX_WAIT_S, ge=0, le=MAX_WAIT_S, description="Seconds.")


class ListenerView(Struct, frozen=True, rename="camel"):
    """A listener of a number, or of one call with it."""

    id: str
    number: str
    call_id: str | None
    created_time: str
    end_time: str


class ListenerList(Struct, frozen=True):
    """The live listeners of an account, oldest first."""

    data: tuple[ListenerView, ...]
    total: int


def listener_view(listener: Listener) -> ListenerView:
    return ListenerView(
        listener.id,
        listener.number,
        listener.call_id,
        format_ms(listener.created_ms),
        format_ms(listener.until_ms),
    )
