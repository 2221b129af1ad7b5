"""Types of secrets in settings."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

from wire.secret_length import check_length


def _secret(secret: SecretStr) -> SecretStr:
    check_length(secret.get_secret_value())
    return secret


Secret = Annotated[SecretStr, AfterValidator(_secret)]  # a token or a password
Key = Annotated[SecretStr, Field(min_length=32)]
