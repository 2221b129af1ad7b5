"""SIP over TLS, and SRTP for phones and the trunk: keys in SDP (SDES), or DTLS for browsers."""

# ruff: noqa: INP001 - beside a script, not a package

from collections.abc import Mapping
from typing import Literal

from errors import SettingError

_SRTP = {
    "no": "media_encryption = no",
    "optional": "media_encryption = sdes\nmedia_encryption_optimistic = yes",
    "required": "media_encryption = sdes\nmedia_encryption_optimistic = no",
}
# Phones in browsers: keys by DTLS, ICE, RTP and RTCP on one port; with a certificate of each start.
_AGENT_SRTP = {**_SRTP, "webrtc": "webrtc = yes\ndtls_auto_generate_cert = yes"}


def encryption(known: Mapping[str, str]) -> dict[str, str]:
    """Return the placeholders of transports and media; raises SettingError."""
    has_tls = bool(known["TLS_CERT"])
    trunk_tls = transport(known["TRUNK"]) == "tls"
    if has_tls is not bool(known["TLS_KEY"]):
        missing, given = ("KEY", "CERT") if has_tls else ("CERT", "KEY")
        raise SettingError(f"TLS_{missing}", f"required with PBX_TLS_{given}")
    if trunk_tls and not has_tls:
        raise SettingError("TRUNK", "a trunk over TLS needs PBX_TLS_CERT and PBX_TLS_KEY")
    for name, is_encrypted in (("TRUNK", trunk_tls), ("AGENT", has_tls)):
        if known[f"{name}_SRTP"] == "required" and not is_encrypted:
            raise SettingError(f"{name}_SRTP", "keys of SRTP need SIP over TLS")
    if known["AGENT_SRTP"] == "webrtc" and known["PHONE_WEBSOCKET"] != "yes":
        raise SettingError("AGENT_SRTP", "webrtc needs PBX_PHONE_WEBSOCKET=yes")
    return {
        "TLS_TRANSPORT": _transport(known) if has_tls else "",
        "TRUNK_ENCRYPTION": _srtp("TRUNK_SRTP", known, _SRTP),
        "AGENT_ENCRYPTION": _srtp("AGENT_SRTP", known, _AGENT_SRTP),
    }


def transport(sip_uri: str) -> Literal["udp", "tcp", "tls"]:
    """Return how a SIP address is reached."""
    parameters = sip_uri.lower().split(";")[1:]
    if sip_uri.startswith("sips:") or "transport=tls" in parameters:
        return "tls"
    return "tcp" if "transport=tcp" in parameters else "udp"


def _transport(known: Mapping[str, str]) -> str:
    return f"""[tls]
type = transport
protocol = tls
bind = {known["SIP_BIND"]}:{known["TLS_PORT"]}
cert_file = {known["TLS_CERT"]}
priv_key_file = {known["TLS_KEY"]}
ca_list_file = {known["TLS_CA"]}
method = tlsv1_2
; of servers that are called, such as the trunk; phones log in with their password
verify_server = yes
"""


def _srtp(setting: str, known: Mapping[str, str], options: Mapping[str, str]) -> str:
    if known[setting] not in options:
        raise SettingError(setting, f"allowed: {', '.join(options)}")
    return options[known[setting]]
