"""SIP over a websocket for phones in browsers, at the port of ARI."""

# ruff: noqa: INP001 - beside a script, not a package

from collections.abc import Mapping

from access import permit_only

# What Asterisk serves beside /ws. Each restriction whose path is a prefix applies: with one of `/`,
# phones would need the addresses of engines.
ENGINES_PATHS = (
    "ari", "media", "rawman", "arawman", "manager", "amanager", "mxml", "amxml", "httpstatus",
    "static", "metrics", "phoneprov",
)  # fmt: skip
_MODULES = """
; --- phones in browsers (PBX_PHONE_WEBSOCKET)
load = res_crypto.so
load = res_pjsip_transport_websocket.so"""


def phone_websocket(known: Mapping[str, str]) -> dict[str, str]:
    """Return the placeholders of the websocket transport, empty without it."""
    if known["PHONE_WEBSOCKET"] != "yes":
        access = _restriction("", "ENGINES", known)
        return {"WS_MODULES": "", "WS_TRANSPORT": "", "HTTP_ACCESS": access, "ICE": "no"}
    protocol = "wss" if known["CONTROL_TLS_CERT"] else "ws"
    return {
        "WS_MODULES": _MODULES,
        "WS_TRANSPORT": _transport(protocol, known),
        "HTTP_ACCESS": "\n".join(
            (
                *(_restriction(path, "ENGINES", known) for path in ENGINES_PATHS),
                _restriction("ws", "AGENT_NETS", known),
            )
        ),
        "ICE": "yes",
    }


def _restriction(path: str, setting: str, known: Mapping[str, str]) -> str:
    return f"[/{path}]\ntype = restriction\n{permit_only(setting, known[setting])}"


def _transport(protocol: str, known: Mapping[str, str]) -> str:
    return f"""[{protocol}]
type = transport
protocol = {protocol}
; the listener is ARI's
bind = {known["BIND"]}:{known["ARI_PORT"]}
"""
