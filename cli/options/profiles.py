"""The file of profiles: named servers and keys, `~/.config/switchroom/profiles.toml`."""

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from base.invalid_settings import InvalidSettings

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True)
class Profile:
    """A REST layer with what it needs to know who calls; empty values are not in the file."""

    api_url: str = ""
    api_key: str = field(default="", repr=False)
    api_secret: str = field(default="", repr=False)
    tls_ca: str = ""
    account: str = ""


@dataclass(frozen=True)
class Profiles:
    """The profiles by name, and the one in use."""

    path: Path
    by_name: Mapping[str, Profile] = field(default_factory=dict)
    current: str = ""

    def get(self, name: str) -> Profile:
        """Return a profile; raises InvalidSettings."""
        if name not in self.by_name:
            known = ", ".join(sorted(self.by_name)) or "`switchroom profile set` adds one"
            raise InvalidSettings([f"profile {name}: not in {self.path}: {known}"])
        return self.by_name[name]

    def save(self) -> None:
        """Write the file, which only its owner may read; another reader never sees a part."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=self.path.parent)  # its mode is 0600
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(_toml(self))
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def profiles_path(environ: Mapping[str, str]) -> Path:
    """Return the path of the file of profiles."""
    folder = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME") or "~", ".config")
    return Path(folder).expanduser() / "switchroom" / "profiles.toml"


def read_profiles(path: Path) -> Profiles:
    """Read the file; without one there are no profiles. Raises InvalidSettings."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Profiles(path)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSettings([f"{path}: no valid TOML: {error}"]) from None
    except OSError as error:
        raise InvalidSettings([f"{path}: {(error.strerror or str(error)).lower()}"]) from None
    current, tables = content.get("current", ""), content.get("profiles", {})
    if not isinstance(current, str) or not isinstance(tables, dict):
        raise InvalidSettings([f"{path}: a text `current` and tables `profiles` are expected"])
    found = {check_name(name): _profile(path, name, table) for name, table in tables.items()}
    return Profiles(path, found, current)


def check_name(name: str) -> str:
    """Return the name of a profile; raises InvalidSettings."""
    if _NAME.fullmatch(name) is None:
        text = "1 to 64 letters, digits, - and _ are expected"
        raise InvalidSettings([f"profile {name}: {text}"])
    return name


def _profile(path: Path, name: str, table: Any) -> Profile:
    known = [each.name for each in fields(Profile)]
    place = f"{path}: profiles.{name}"
    if not isinstance(table, dict):
        raise InvalidSettings([f"{place}: a table is expected"])
    for key, value in table.items():
        if key not in known:
            raise InvalidSettings([f"{place}.{key}: one of {', '.join(known)} is expected"])
        if not isinstance(value, str):
            raise InvalidSettings([f"{place}.{key}: a text is expected"])
    return Profile(**table)


def _toml(profiles: Profiles) -> str:
    lines = [f"current = {_text(profiles.current)}"]
    for name, profile in sorted(profiles.by_name.items()):
        lines += ["", f"[profiles.{name}]"]
        lines += [f"{key} = {_text(value)}" for key, value in asdict(profile).items() if value]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    """Return a basic string of TOML, which has the escapes of JSON, and one more."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
