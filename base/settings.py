"""Reads the settings of a program: `SWITCHROOM_…` variables, `.env`, or a TOML file.

An error is one line with the name of the variable.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, Field, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from base.invalid_settings import InvalidSettings

MIN_SECRET_CHARS = 16
_PREFIX = "SWITCHROOM_"
_CONFIG = "SWITCHROOM_CONFIG"  # the variable with the path of a TOML file
_FIELD = re.compile(r'field "(\w+)"')  # in the text of a SettingsError


def check_length(secret: str) -> None:
    """Raise ValueError for a secret that can be guessed; the text does not contain it."""
    if len(secret) < MIN_SECRET_CHARS:
        raise ValueError(
            f"has {len(secret)} characters; at least {MIN_SECRET_CHARS} are needed,"
            " such as openssl rand -hex 32 prints"
        )


def _secret(secret: SecretStr) -> SecretStr:
    check_length(secret.get_secret_value())
    return secret


Secret = Annotated[SecretStr, AfterValidator(_secret)]  # a token or a password
Key = Annotated[SecretStr, Field(min_length=32)]


class ProgramSettings(BaseSettings):
    """The settings of a program; each has its own fields."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, env_nested_delimiter="__", env_file=".env", extra="ignore"
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment first, then `.env`, then the TOML file."""
        sources = (init_settings, env_settings, dotenv_settings, file_secret_settings)
        if path := os.environ.get(_CONFIG):
            return (*sources, TomlConfigSettingsSource(settings_cls, path))
        return sources


T = TypeVar("T", bound=ProgramSettings)


def load(kind: type[T]) -> T:
    """Read settings from the environment and the files; raises InvalidSettings."""
    try:
        return kind()
    except ValidationError as error:
        raise InvalidSettings(setting_errors(error, kind)) from None
    except SettingsError as error:
        raise InvalidSettings([_not_json(str(error), kind)]) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidSettings([f"{_CONFIG}: no valid TOML: {error}"]) from None


def setting_errors(error: ValidationError, kind: type[BaseModel]) -> list[str]:
    """Return a line for each invalid setting, without its value."""
    return [_line(each, kind) for each in error.errors()]


def _line(error: ErrorDetails, kind: type[BaseModel]) -> str:
    text = error["msg"].removeprefix("Value error, ")
    if not error["loc"]:  # of several settings, which the text names
        return re.sub(r"\w+", lambda word: _variable(word[0], kind), text)
    if error["type"] == "extra_forbidden":
        text = f"no such key; one of {', '.join(_keys(kind, error['loc'][:-1]))} is expected"
    return f"{_PREFIX}{'__'.join(map(str, error['loc'])).upper()}: {text}"


def _variable(word: str, kind: type[BaseModel]) -> str:
    """Return the variable of a setting; any other word as it is."""
    return f"{_PREFIX}{word.upper()}" if "_" in word and word in kind.model_fields else word


def _not_json(text: str, kind: type[BaseModel]) -> str:
    found = _FIELD.search(text)
    if found is None:
        return text
    name = found[1]
    return f"{_PREFIX}{name.upper()}: {_example(kind.model_fields[name].annotation)} is expected"


def _example(annotation: Any) -> str:
    kind = _plain(annotation)
    if get_origin(kind) not in {tuple, list}:
        return 'a JSON object such as {"…": "…"}'
    item = _plain(get_args(kind)[0])
    is_model = isinstance(item, type) and issubclass(item, BaseModel)
    example = '[{"…": "…"}]' if is_model else '["…"]'
    return f"a JSON list such as {example}"


def _keys(kind: Any, place: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the object at a place in settings."""
    for step in place:
        kind = _plain(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            kind = kind.model_fields[str(step)].annotation
        else:
            kind = get_args(kind)[1 if issubclass(get_origin(kind) or tuple, Mapping) else 0]
    return [*_plain(kind).model_fields]


def _plain(annotation: Any) -> Any:
    """Return a type without its constraints, and without None."""
    while get_origin(annotation) in {Annotated, Union, UnionType}:
        annotation = get_args(annotation)[0]
    return annotation
