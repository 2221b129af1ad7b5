"""SIP over a websocket for phones in browsers, at the port of ARI, by way of the REST layer.

Asterisk has one HTTP server, with one limit of connections, for ARI and these websockets: strangers
who reached it could take all connections, and engines could not connect.
"""

# ruff: noqa: INP001 - beside a script, not a package

from collections.abc import Iterator, Mapping
from string import ascii_letters

from access import check_apart, permit_only

_MODULES = """
; --- phones in browsers (PBX_PHONE_WEBSOCKET)
load = res_crypto.so
load = res_pjsip_transport_websocket.so"""
_OPUS = "\nload = res_format_attr_opus.so\nload = codec_opus_open_source.so"


# What an engine copies for the phone of an agent with `phone: browser`. It has no variable, because
# Asterisk rejects a change of an endpoint that has one, and each login changes the endpoint. A tab
# that has closed leaves its websocket; one that has died is found by the qualify, or its short
# registration expires.
_TEMPLATE = """; --- phones in browsers: several tabs of an agent, each with a login of its own
[browser-template](phone-options)
identify_by = ip
allow = {BROWSER_CODECS}
{OFFER_ORDER}webrtc = yes
dtls_auto_generate_cert = yes
allow_transfer = no
[browser-template]
type = aor
max_contacts = 10
remove_existing = yes
remove_unavailable = yes
qualify_frequency = {AGENT_QUALIFY_S}
minimum_expiration = 10
maximum_expiration = 120
default_expiration = 120
[browser-template](agent-auth)
username = browser-template
password = {TEMPLATE_PASSWORD}
"""


# By default the call's codec is offered first, which spares a conversion between the two of G.711.
# One that an operator names before these would then come last, and browsers take the first.
_OWN_ORDER = "outgoing_call_offer_pref = local_merge\n"
_G711 = ("ulaw", "alaw")


def phone_websocket(known: Mapping[str, str]) -> dict[str, str]:
    """Return the placeholders of the websocket transport, empty without it."""
    if known["PHONE_WEBSOCKET"] != "yes":
        access = _restriction("/", "ENGINES", known["ENGINES"])
        names = ("WS_MODULES", "WS_TRANSPORT", "BROWSER_TEMPLATE", "ICE_CANDIDATES")
        empty = dict.fromkeys(names, "")
        return {**empty, "HTTP_ACCESS": access, "ICE": "no"}
    protocol = "wss" if known["CONTROL_TLS_CERT"] else "ws"
    return {
        "WS_MODULES": _MODULES + (_OPUS if "opus" in known["BROWSER_CODECS"] else ""),
        "WS_TRANSPORT": _transport(protocol, known),
        "BROWSER_TEMPLATE": _TEMPLATE.format(
            **known, OFFER_ORDER="" if known["BROWSER_CODECS"].startswith(_G711) else _OWN_ORDER
        ),
        "HTTP_ACCESS": "\n".join(_restrictions(known)),
        "ICE": "yes",
        "ICE_CANDIDATES": _external_candidate(known["SIP_BIND"], known["EXTERNAL_ADDRESS"]),
    }


def phone_networks(known: Mapping[str, str], trunks: str) -> str:
    """Return where agents' phones are; those in browsers have the address of their proxy.

    Raises SettingError if that is also a trunk's: what such a phone sends would be the trunk's.
    """
    if known["PHONE_WEBSOCKET"] != "yes":
        return known["AGENT_NETS"]
    check_apart("PHONE_PROXIES", known["PHONE_PROXIES"], trunks)
    return f"{known['AGENT_NETS']},{known['PHONE_PROXIES']}"


def _external_candidate(own: str, external: str) -> str:
    """Return how browsers elsewhere reach an address behind NAT: ICE ignores the SIP transport."""
    if not external or own in {"0.0.0.0", "::"}:
        return ""
    return f"\n[ice_host_candidates]\n{own} => {external},include_local_address\n"


def _restrictions(known: Mapping[str, str]) -> Iterator[str]:
    """Yield which addresses may request which paths: REST layers /ws, and engines all others.

    Asterisk finds the handler of a path without regard to case, after it has compared the path with
    restrictions letter by letter; all whose path is a prefix apply. So a handler is restricted by
    its first letter, in both cases, and no list of handlers has to be complete.
    """
    networks = {setting: known[setting] for setting in ("ENGINES", "PHONE_PROXIES")}
    for initial in ascii_letters:
        setting = "PHONE_PROXIES" if initial in "wW" else "ENGINES"
        yield _restriction(f"/{initial}", setting, networks[setting])
    yield _restriction("/", "ENGINES", ",".join(networks.values()))


def _restriction(path: str, setting: str, networks: str) -> str:
    return f"[{path}]\ntype = restriction\n{permit_only(setting, networks)}"


def _transport(protocol: str, known: Mapping[str, str]) -> str:
    return f"""[{protocol}]
type = transport
protocol = {protocol}
; the listener is ARI's
bind = {known["BIND"]}:{known["ARI_PORT"]}
"""
