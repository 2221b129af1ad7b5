"""Further trunks, over which numbers are called if the first one has no circuit."""

# ruff: noqa: INP001 - beside a script, not a package

import re
from collections.abc import Callable, Mapping

from errors import SettingError

RESERVED = ("trunk", "peers", "agent", "agent-template")


def further_trunks(known: Mapping[str, str], host_of: Callable[[str], str]) -> str:
    """Return the sections of PBX_FURTHER_TRUNKS, `name=sip:…` separated by spaces."""
    found: dict[str, str] = {}
    for each in known["FURTHER_TRUNKS"].split():
        name, _, address = each.partition("=")
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", name) or name in (*RESERVED, *found):
            raise SettingError("FURTHER_TRUNKS", f"not a name of its own such as backup: {name}")
        if ";transport=tls" in address.lower() or not address.startswith("sip:"):
            raise SettingError("FURTHER_TRUNKS", f"not a sip: address over UDP: {address}")
        found[name] = _sections(name, address, host_of(address), known["TRUNK_QUALIFY_S"])
    return "\n".join(found.values())


def _sections(name: str, address: str, host: str, qualify_s: str) -> str:
    return f"""[{name}]
type = aor
contact = {address}
qualify_frequency = {qualify_s}
[{name}]
type = identify
endpoint = {name}
match = {host}
[{name}](trunk-options)
transport = udp
aors = {name}
"""
