"""Settings of the store, and of what it keeps."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from base.settings import Key
from engine.store.redis.address import parse_address


def _store_url(url: str) -> str:
    parse_address(url)
    return url


StoreUrl = Annotated[str, AfterValidator(_store_url)]


class StoreSettings(BaseModel):
    """Store."""

    redis_url: StoreUrl = Field(
        "redis://127.0.0.1:6379/0",
        description=(
            "Redis 6.2 or later (7 for exact consumer lag) or Valkey, with `appendonly yes` and"
            " `maxmemory-policy noeviction`. `redis://:password@host:6379/0`,"
            " `rediss://…?ssl_ca_certs=…` for TLS,"
            " `redis+sentinel://:password@host1:26379,host2:26379/mymaster/0` for Sentinel"
            " (`rediss+sentinel://` with TLS; `?sentinel_password=…`),"
            " `redis+cluster://:password@host1:6379,host2:6379` for"
            " [a cluster](operations/deploy.md#a-redis-cluster) (`rediss+cluster://` with TLS; some"
            " of its nodes are enough). A server on another host needs a password or TLS."
        ),
    )
    allow_insecure_store: bool = Field(
        False, description="Allow a store on another host without a password and without TLS."
    )
    store_key: Key | None = Field(
        None,
        description=(
            "Encrypts customers' secrets in the store: signing secrets of webhooks,"
            " `{{secrets.…}}` of API requests; at least 32 characters, the same in all engines."
            " Without it they are stored in clear text:"
            " [how to introduce and change it](operations/security.md#change-secrets)."
        ),
    )
    further_store_keys: tuple[Key, ...] = Field(
        (), description="JSON list of keys that only decrypt, while the key changes."
    )
    documents: Path | None = Field(
        None,
        description=(
            "Folder with the documents of accounts, for engines **without** a REST layer:"
            " [its files](operations/documents.md). It is read at the start and when a file"
            " changes; what the store has besides is deleted."
        ),
    )
    slots: int = Field(
        8,
        ge=1,
        le=64,
        description=(
            "Slots of each node, as `PBX_SLOTS` there; with the number of nodes they make the"
            " [shards](reference/glossary.md) that engines share. The first engine stores the"
            " number, and an engine with another one does not start; `switchroom slots N` changes"
            " it while calls are live."
        ),
    )
    lease_s: float = Field(
        2.0,
        ge=0.5,
        le=30,
        description="Seconds after which another engine takes the calls of a dead engine over.",
    )
    kept_s: int = Field(
        86_400,
        ge=1,
        description=(
            "Seconds for which ended calls stay readable; after a minute each takes about 420 bytes"
            " of the store."
        ),
    )
    stream_events: int = Field(
        100_000, ge=1_000, description="Call events kept in the stream of each shard."
    )
    stream_ceiling: int = Field(
        400_000,
        ge=1_000,
        description="Most call events kept for consumers that have not acknowledged them.",
    )
    stream_mb: int = Field(
        64,
        ge=1,
        description=(
            "Megabytes that the call events of each shard may take; as much more for consumers that"
            " have not acknowledged them as `stream_ceiling` is above `stream_events`."
        ),
    )
    stream_kept_s: int = Field(
        3_600,
        ge=1,
        description=(
            "Seconds for which events are kept that every consumer has acknowledged; a reader of"
            " live events can continue within that time."
        ),
    )

    @model_validator(mode="after")
    def _check_store(self) -> Self:
        if not self.allow_insecure_store and parse_address(self.redis_url).is_open:
            raise ValueError(
                "redis_url: a store on another host needs a password (redis://:password@host)"
                " or TLS (rediss://); allow_insecure_store=true allows neither"
            )
        return self

    @model_validator(mode="after")
    def _check_stream_limits(self) -> Self:
        if self.stream_ceiling < self.stream_events:
            raise ValueError("stream_ceiling is below stream_events")
        return self
