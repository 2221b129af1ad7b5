"""Further trunks, over which numbers are called if the first one has no circuit."""

# ruff: noqa: INP001 - beside a script, not a package

import re
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from config_value import escaped
from encryption import transport
from errors import SettingError
from trunk_login import trunk_auth

RESERVED = ("trunk", "peers", "agent", "agent-template")
_LOGIN = re.compile(r"(sips?:)([^:@;]+):([^@;]+)@")


def further_trunks(known: Mapping[str, str], host_of: Callable[[str, str], str]) -> str:
    """Return the sections of PBX_FURTHER_TRUNKS, `name=sip:…` separated by spaces.

    An address may have `;transport=tls` or `;transport=tcp`, and a login: `sip:user:password@host`.
    """
    found: dict[str, str] = {}
    for each in known["FURTHER_TRUNKS"].split():
        name, _, address = each.partition("=")
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", name) or name in (*RESERVED, *found):
            raise SettingError("FURTHER_TRUNKS", f"not a name of its own such as backup: {name}")
        if not address.startswith(("sip:", "sips:")):
            raise SettingError("FURTHER_TRUNKS", f"not a sip: address: {name}")
        _check_encryption(name, address, known)
        found[name] = _trunk(
            name, address, host_of("FURTHER_TRUNKS", address), known["TRUNK_QUALIFY_S"]
        )
    return "\n".join(found.values())


def _check_encryption(name: str, address: str, known: Mapping[str, str]) -> None:
    if transport(address) == "tls" and not known["TLS_CERT"]:
        text = f"{name} over TLS needs PBX_TLS_CERT and PBX_TLS_KEY"
        raise SettingError("FURTHER_TRUNKS", text)
    if known["TRUNK_SRTP"] == "required" and transport(address) != "tls":
        text = f"{name} needs ;transport=tls, as PBX_TRUNK_SRTP=required is for all trunks"
        raise SettingError("FURTHER_TRUNKS", text)


def _trunk(name: str, address: str, host: str, qualify_s: str) -> str:
    login = _LOGIN.match(address)
    contact = address.replace(login[0], login[1], 1) if login else address
    auth = trunk_auth(name, unquote(login[2]), unquote(login[3])) if login else ""
    return f"""[{name}]
type = aor
contact = {escaped(contact)}
qualify_frequency = {qualify_s}
[{name}]
type = identify
endpoint = {name}
match = {host}
[{name}](trunk-options)
aors = {name}
{f"outbound_auth = {name}" if login else ""}
{auth}"""
