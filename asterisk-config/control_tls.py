"""The listeners of ARI and AMI: in clear text, or with a certificate over TLS only."""

# ruff: noqa: INP001 - beside a script, not a package

import ipaddress
from collections.abc import Mapping

from errors import SettingError

# Asterisk always opens AMI's port in clear text, too: with TLS it is one that no network reaches.
PLAIN_AMI_OFFSET = 10_000


def control_listeners(known: Mapping[str, str]) -> dict[str, str]:
    """Return the placeholders of http.conf and manager.conf; raises SettingError."""
    cert, key = known["CONTROL_TLS_CERT"], known["CONTROL_TLS_KEY"]
    if bool(cert) is not bool(key):
        missing, given = ("KEY", "CERT") if cert else ("CERT", "KEY")
        raise SettingError(f"CONTROL_TLS_{missing}", f"required with PBX_CONTROL_TLS_{given}")
    if not cert:
        return {
            "ARI_LISTENER": f"enabled = yes\nbindaddr = {known['BIND']}\n"
            f"bindport = {known['ARI_PORT']}",
            "AMI_LISTENER": f"bindaddr = {known['BIND']}\nport = {known['AMI_PORT']}",
        }
    return {
        "ARI_LISTENER": f"enabled = no\n{_tls(known, 'ARI_PORT')}",
        "AMI_LISTENER": f"bindaddr = 127.0.0.1\n"
        f"port = {int(known['AMI_PORT']) + PLAIN_AMI_OFFSET}\n{_tls(known, 'AMI_PORT')}",
    }


def _tls(known: Mapping[str, str], port: str) -> str:
    bind = known["BIND"]
    host = f"[{bind}]" if ipaddress.ip_address(bind).version == 6 else bind  # noqa: PLR2004 - IPv6
    return f"""tlsenable = yes
tlsbindaddr = {host}:{known[port]}
tlscertfile = {known["CONTROL_TLS_CERT"]}
tlsprivatekey = {known["CONTROL_TLS_KEY"]}
tlsdisablev1 = yes
tlsdisablev11 = yes"""
