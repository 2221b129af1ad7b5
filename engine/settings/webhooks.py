"""Settings of requests to customers' servers."""

from typing import Annotated

from pydantic import BaseModel, Field

from base.limit import Limit
from base.settings import Key


class WebhookSettings(BaseModel):
    """Requests to customers' servers."""

    signing_key: Key | None = Field(
        None,
        description=(
            "The secrets that sign accounts' webhooks are derived from this key (32 characters at"
            " least, the same in all engines; never given to customers). Without it they are"
            " random, and lost if Redis loses its data."
        ),
    )
    webhook_allow: tuple[str, ...] = Field(
        (),
        description=(
            "JSON list of private networks in which webhooks, callbacks and API requests may be."
        ),
    )
    private_networks_account: str = Field(
        "",
        description=(
            "The only account whose webhooks, callbacks, API requests and audio may be in the"
            " private networks of `SWITCHROOM_WEBHOOK_ALLOW` and `SWITCHROOM_MEDIA_ALLOW`; by"
            " default all accounts."
        ),
    )
    outbound_deny: tuple[str, ...] = Field(
        (),
        description=(
            "JSON list of public networks, such as your own, that targets, webhooks and audio may"
            " not be in."
        ),
    )
    allow_insecure_webhooks: bool = Field(
        False, description="Also plain http, to this machine only; for development."
    )
    callback_retries_s: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        (0, 5, 300, 1_800, 7_200, 18_000),
        min_length=1,
        description="JSON list of seconds before each attempt to deliver a callback.",
    )
    callback_circuit_s: float = Field(
        30, gt=0, description="Seconds for which the circuit of a failing target stays open."
    )
    callback_max_in_flight: Annotated[int, Limit("process", "wait")] = Field(
        1_000,
        ge=2,
        description=(
            "Most callbacks that an engine sends at once, over all targets; each takes a socket."
            " The targets of one account have a quarter of them."
        ),
    )
    webhook_log_s: int = Field(
        86_400,
        ge=0,
        description=(
            "Seconds for which requests to customers' servers stay in the"
            " [webhook log](webhook-log.md), 0 for no log."
        ),
    )
    webhook_log_attempts: Annotated[int, Limit("account", "the oldest are deleted")] = Field(
        10_000, ge=100, description="Most requests of an account in the webhook log, about."
    )
