"""Settings of the engines' RPC, and of TLS."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, StringConstraints, model_validator

from base.settings import Secret

# In the log beside rpc_token and other_engine, which are no such names.
ClientName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,31}$")]


class RpcClientSettings(BaseModel):
    """A client of the RPC with a token of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    token: Secret = Field(description="Its token.")
    further_tokens: tuple[Secret, ...] = Field(
        (), description="Tokens that are accepted, too, while the token changes."
    )
    read_only: bool = Field(False, description="Whether it may change nothing.")


class RpcSettings(BaseModel):
    """RPC and TLS."""

    rpc_host: str = Field(
        "127.0.0.1",
        description=(
            "Address of the internal RPC, and of `/healthz`, `/readyz` and `/metrics`; keep it off"
            " public networks."
        ),
    )
    rpc_port: int = Field(8070, ge=0, le=65535, description="Its port.")
    rpc_url: HttpUrl | None = Field(
        None,
        description=(
            "Where other engines and the PBX nodes reach this engine; default"
            " `http://{RPC_HOST}:{RPC_PORT}`; required if `SWITCHROOM_RPC_HOST` is `0.0.0.0`."
        ),
    )
    rpc_token: Secret = Field(
        description=(
            "The token of the RPC. It and every other one, and the passwords of nodes and AMI, have"
            " at least 16 characters. Engines sign the requests to each other with the token and"
            " never send it."
        )
    )
    further_rpc_tokens: tuple[Secret, ...] = Field(
        (),
        description=(
            "JSON list of tokens that are accepted, too:"
            " [how to change the token](operations/security.md#change-secrets)."
        ),
    )
    rpc_clients: dict[ClientName, RpcClientSettings] = Field(
        {},
        description=(
            "JSON: clients of the RPC with tokens of their own, by name:"
            ' `{"monitor": {"token": "…", "read_only": true}}`; each may have `further_tokens`:'
            " [how to use them](operations/security.md#change-secrets)."
        ),
    )
    rpc_tls_cert: Path | None = Field(
        None,
        description=(
            "PEM file: with it the engine serves https, also the audio for PBX nodes, which must"
            " trust the certificate."
        ),
    )
    rpc_tls_key: Path | None = Field(
        None, description="PEM file of the key; default: it is in the certificate's file."
    )
    tls_ca: Path | None = Field(
        None,
        description=(
            "PEM file of the CA of engines and PBX nodes, for engines, REST layer and CLI; default:"
            " the system's."
        ),
    )

    @model_validator(mode="after")
    def _check_rpc_tls(self) -> Self:
        if self.rpc_tls_key is not None and self.rpc_tls_cert is None:
            raise ValueError("rpc_tls_key needs rpc_tls_cert")
        has_plain_url = self.rpc_url is not None and self.rpc_url.scheme == "http"
        if self.rpc_tls_cert is not None and has_plain_url:
            raise ValueError("rpc_url must begin with https://, as rpc_tls_cert is set")
        return self

    @model_validator(mode="after")
    def _check_rpc_clients(self) -> Self:
        tokens = [each.get_secret_value() for each in (self.rpc_token, *self.further_rpc_tokens)]
        for name, client in self.rpc_clients.items():
            own = {each.get_secret_value() for each in (client.token, *client.further_tokens)}
            if own.intersection(tokens):
                raise ValueError(f"rpc_clients: {name} needs a token of its own")
            tokens += own
        return self
