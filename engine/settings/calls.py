"""Settings of calls: what they may reach, limits, the log, audio and webhooks."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, HttpUrl, StringConstraints

from base.limit import Limit
from base.settings import Key
from wire.flow import MAX_CALL_S

AllowedParty = Annotated[
    str, StringConstraints(pattern=r"^(any|agents|\+[1-9][0-9]{0,14}|sips?:)$")
]
TrunkName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
# A dot is in no name: so no two accounts have one endpoint.
AgentEndpoint = Annotated[
    str,
    StringConstraints(
        pattern=r"^PJSIP/([A-Za-z0-9_.\-]*\{account\}\.)?[A-Za-z0-9_.\-]*\{agent_id\}[A-Za-z0-9_.\-]*$"
    ),
]
DefaultCountry = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]{0,2})?$")]


class DialSettings(BaseModel):
    """Dialling."""

    trunk_endpoint: str = Field(
        "PJSIP/{number}@trunk", description="How numbers are dialled: the endpoint of a number."
    )
    further_trunks: tuple[TrunkName, ...] = Field(
        (),
        description=(
            "JSON list of the names in `PBX_FURTHER_TRUNKS`, in order: a number is called over the"
            " next trunk if one answers 503, or has no circuit, before it rings."
        ),
    )
    agent_endpoint: AgentEndpoint = Field(
        "PJSIP/{agent_id}",
        description="How agents are dialled that no document (`switchroom agent set`) names.",
    )
    agent_account: str = Field(
        "",
        description=(
            "The only account whose agents are dialled by `SWITCHROOM_AGENT_ENDPOINT`; none by"
            " default. Not needed if the template contains `{account}`, as"
            " `PJSIP/{account}.{agent_id}`."
        ),
    )
    caller_id: str = Field("", description="Number shown to called parties if a call has none.")
    sip_hosts: tuple[str, ...] = Field(
        (),
        description=(
            "JSON list of hosts that `sip:` addresses may name; none by default, because dialling"
            " costs money."
        ),
    )
    default_allow: tuple[AllowedParty, ...] = Field(
        (),
        description=(
            'JSON list of prefixes such as `["+47"]`, or `["any"]`, that accounts without a dial'
            ' policy may call, beside their agents; `["agents"]` is agents alone: for engines'
            " without the REST layer, which gives each account one; none by default"
            " ([decision](decisions/0021-dial-policy-is-checked-at-every-dial.md))."
        ),
    )
    default_country: DefaultCountry = Field(
        "",
        description=(
            "Calling code, such as `47`, of numbers without one, for accounts without a dial"
            " policy: for engines without the REST layer, which gives each account one."
        ),
    )
    trunk_refer: bool = Field(
        False,
        description=(
            "Accept REFERs of parties behind the trunk, if it is your own PBX whose phones"
            " transfer; each transfer is at the cost of its call's account."
        ),
    )


class LimitSettings(BaseModel):
    """Limits, and the log."""

    max_calls: Annotated[int, Limit("process", "503 `overloaded`")] = Field(
        5_000,
        ge=1,
        description=(
            "Most live calls of one engine; above it new calls go to another engine with room, or"
            " are rejected with 503, and other engines' calls are not taken over."
        ),
    )
    max_calls_per_s: Annotated[int, Limit("process", "503 `overloaded`")] = Field(
        400, ge=1, description="Most new calls per second of one engine."
    )
    trunk_max_calls: Annotated[int | None, Limit("installation", "`trunk_full`")] = Field(
        None, ge=1, description="Most legs on the trunk at once, over all engines."
    )
    trunk_max_calls_per_s: Annotated[int | None, Limit("installation", "`trunk_rate`")] = Field(
        None, ge=1, description="Most new calls on the trunk per second, over all engines."
    )
    log_mb_of_call: Annotated[int, Limit("account", "429 `log_quota`, and `call_too_large`")] = (
        Field(
            8,
            ge=1,
            description=(
                "Megabytes that an account's calls may write to the store within"
                " `SWITCHROOM_KEPT_S` (a day), for each call that it may have at once"
                " (`--max-calls`; an account without that limit has none here). Then it may start"
                " and get no further call, and its calls with more than a megabyte of log end."
            ),
        )
    )
    longest_call_s: Annotated[int, Limit("call", "ended, `longest_call`")] = Field(
        14_400,
        ge=1,
        le=MAX_CALL_S,
        description=(
            "Seconds after which a call is ended, with the reason `longest_call`; at most a week."
        ),
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Lowest level of messages in the log."
    )


RecordingsUrl = Annotated[str, StringConstraints(pattern=r"^(file:///|s3://[^/]+)")]


def _default_workers() -> int:
    return max(2, min(8, os.cpu_count() or 1))  # two at least: no account may use all of them


class MediaSettings(BaseModel):
    """Audio and recordings."""

    media_dir: Path = Field(
        Path("/var/lib/switchroom/media"), description="Folder of the engine's cache of audio."
    )
    media_url: HttpUrl | None = Field(
        None,
        description=(
            "Where PBX nodes fetch audio: one URL for all engines, such as"
            " `http://audio.internal:8070`, whose name has the addresses of all engines, or a load"
            " balancer before them. A PBX caches a prompt by its URL, so that with one URL it keeps"
            " one copy, which stays when another engine takes over. Any engine has the audio of the"
            " others. Default: `SWITCHROOM_RPC_URL`."
        ),
    )
    media_workers: int = Field(
        default_factory=_default_workers,
        ge=2,
        le=64,
        description=(
            "Processes that speak texts, and as many that transcode small and large audio files:"
            " the number of CPUs, 2 to 8, by default. One account uses all but one of them at most,"
            " and what calls wait for goes before what is prefetched. Each needs about 200 MB for"
            " speech."
        ),
    )
    media_allow: tuple[str, ...] = Field(
        (), description="JSON list of private networks that audio may be fetched from."
    )
    recordings_url: RecordingsUrl = Field(
        "file:///var/lib/switchroom/recordings",
        description="Where recordings are stored: `file:///…` or `s3://bucket/prefix`.",
    )
    recordings_s3: dict[str, str] = Field(
        {},
        description=(
            'JSON for S3: `{"endpoint": …, "region": …, "access_key_id": …, "secret_access_key":'
            " …}`."
        ),
    )
    recordings_public_url: str = Field(
        "", description="Base of the URLs of recordings that customers get, if it differs."
    )
    recordings_s: float = Field(
        30, gt=0, description="Seconds between searches for recordings left on a node."
    )


class WebhookSettings(BaseModel):
    """Requests to customers' servers."""

    signing_key: Key | None = Field(
        None,
        description=(
            "The secrets that sign accounts' webhooks are derived from this key (32 characters at"
            " least, the same in all engines; never given to customers). Without it they are"
            " random, and an account without callback settings gets others after each start."
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
