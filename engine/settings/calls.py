"""Settings of calls: what they may reach, limits, and the log."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from base.limit import Limit
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
