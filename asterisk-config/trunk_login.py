"""The user name and password of the trunk, and registration at the carrier."""

# ruff: noqa: INP001 - beside a script, not a package

from collections.abc import Mapping

from config_value import escaped
from errors import SettingError


def trunk_login(known: Mapping[str, str], host: str, transport: str) -> dict[str, str]:
    """Return the placeholders of the trunk's login; raises SettingError."""
    user, password = known["TRUNK_USER"], known["TRUNK_PASSWORD"]
    if bool(user) is not bool(password):
        missing, given = ("PASSWORD", "USER") if user else ("USER", "PASSWORD")
        raise SettingError(f"TRUNK_{missing}", f"required with PBX_TRUNK_{given}")
    if known["TRUNK_REGISTER"] == "yes" and not user:
        raise SettingError("TRUNK_REGISTER", "needs PBX_TRUNK_USER and PBX_TRUNK_PASSWORD")
    is_registered = known["TRUNK_REGISTER"] == "yes"
    return {
        "TRUNK_AUTH": "outbound_auth = trunk" if user else "",
        "TRUNK_LOGIN": trunk_auth("trunk", user, password) if user else "",
        "TRUNK_REGISTRATION": _registration(known["TRUNK"], user, host, transport)
        if is_registered
        else "",
    }


def trunk_auth(name: str, user: str, password: str) -> str:
    """Return the section with the login at a carrier."""
    return f"""[{name}]
type = auth
auth_type = digest
username = {escaped(user)}
password = {escaped(password)}
; what the carrier asks for
supported_algorithms_uac = SHA-256,MD5
"""


def _registration(trunk: str, user: str, host: str, transport: str) -> str:
    scheme = "sips" if trunk.startswith("sips:") else "sip"
    client = f"{scheme}:{user}@{host}"
    return f"""[trunk]
type = registration
transport = {transport}
outbound_auth = trunk
server_uri = {escaped(trunk)}
client_uri = {escaped(client)}
contact_user = {escaped(user)}
; a carrier that is down or refuses the password is tried again, also hours later
retry_interval = 30
forbidden_retry_interval = 300
max_retries = 10000
"""
