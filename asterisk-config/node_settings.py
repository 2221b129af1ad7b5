"""The settings of a node, `PBX_NAME` in the environment: their defaults, and what they mean.

The reference of settings is generated from this table; links in it are from the folder `docs`.
"""

# ruff: noqa: INP001 - a part of a script, not of a package

from collections.abc import Mapping
from typing import NamedTuple


class NodeSetting(NamedTuple):
    """A setting; without a default it is required, or follows from others (`without`)."""

    meaning: str
    default: str | None = ""
    without: str = ""  # what an empty or no default stands for


_LIST = "separated by commas"

SETTINGS: Mapping[str, NodeSetting] = {
    "NODE": NodeSetting("Its name in `SWITCHROOM_NODES`.", "pbx"),
    "SLOTS": NodeSetting("Slots of the node: `SWITCHROOM_SLOTS`.", "8"),
    # engines
    "BIND": NodeSetting(
        "Where engines reach ARI and AMI: an address, or a network in which the machine has one.",
        "127.0.0.1",
    ),
    "SHARED_BIND": NodeSetting(
        "`yes` lets ARI and AMI (`PBX_BIND`) share an address with SIP, or bind to all addresses,"
        " where a firewall keeps strangers from their ports; otherwise that is refused.",
        "no",
    ),
    "ENGINES": NodeSetting(
        f"Addresses or networks of the engines, {_LIST}: ARI and AMI serve no others.",
        "127.0.0.1,::1",
    ),
    "ARI_PORT": NodeSetting("Port of ARI.", "8088"),
    "ARI_USER": NodeSetting("User name of engines at ARI.", "switchroom"),
    "ARI_PASSWORD": NodeSetting("Password of engines at ARI.", None),
    "AMI_PORT": NodeSetting("Port of AMI.", "5038"),
    "AMI_USER": NodeSetting("User name of engines at AMI.", "switchroom"),
    "AMI_PASSWORD": NodeSetting("Password of engines at AMI.", None),
    "CONTROL_TLS_CERT": NodeSetting(
        "Path of the certificate of ARI and AMI: with it and the key both accept TLS only (1.2 and"
        " later), on the same ports; the node's `url` is then `https://…`, with `ami_tls`."
        " Asterisk opens AMI's port plus 10000 in clear text, at 127.0.0.1 only."
    ),
    "CONTROL_TLS_KEY": NodeSetting("Path of its key."),
    # SIP and RTP
    "SIP_BIND": NodeSetting("Address of SIP and RTP, or a network, as `PBX_BIND`.", "127.0.0.1"),
    "SIP_PORT": NodeSetting("Port of SIP.", "5060"),
    "RTP_FIRST": NodeSetting("First port of RTP.", "10000"),
    "RTP_LAST": NodeSetting("Last port of RTP.", "19999"),
    "RTP_TIMEOUT_S": NodeSetting(
        "A leg whose phone sends neither RTP, nor comfort noise, nor RTCP for so many seconds is"
        " hung up with cause 44, also on hold. Muted phones keep their call by RTCP, which nearly"
        " all send every few seconds. A phone that puts the call on hold itself may be silent for"
        " an hour.",
        "45",
    ),
    "EXTERNAL_ADDRESS": NodeSetting(
        "Behind NAT, the address that peers outside the local networks see in SIP and SDP. The"
        " address of `PBX_SIP_BIND` must be in one of those networks."
    ),
    "LOCAL_NETS": NodeSetting(
        f"The local networks, {_LIST}.", "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,127.0.0.0/8"
    ),
    "TLS_CERT": NodeSetting(
        "Path of a certificate: with it and the key SIP is also served over TLS (1.2 and later)."
        " Certificates are read when the PBX starts."
    ),
    "TLS_KEY": NodeSetting("Path of its key."),
    "TLS_PORT": NodeSetting("Port of SIP over TLS.", "5061"),
    "TLS_CA": NodeSetting(
        "Path of the authorities that verify the trunk's certificate; by default the system's.",
        "/etc/ssl/certs/ca-certificates.crt",
    ),
    # carriers
    "TRUNK": NodeSetting(
        "The carrier's SIP address: over UDP, or with `;transport=tcp` or `;transport=tls`.",
        "sip:127.0.0.1:5080",
    ),
    "TRUNK_USER": NodeSetting("User name at the carrier, if it needs a login."),
    "TRUNK_PASSWORD": NodeSetting("Password at the carrier."),
    "TRUNK_REGISTER": NodeSetting("`yes` also registers the node there.", "no"),
    "TRUNK_MATCH": NodeSetting(
        f"Addresses, networks or names that the carrier calls from, {_LIST}.",
        None,
        "the host of `PBX_TRUNK`",
    ),
    "TRUNK_CODECS": NodeSetting(
        "In order of preference. A phone without any of them gets 488. `g722` and `opus` are"
        " transcoded, which costs the node more CPU, and **Asterisk 22.10 garbles recordings of"
        " legs that use them** (its issue 1779, fixed in later versions): add them, as in"
        " `ulaw,alaw,g722,opus`, where calls are not recorded or the fix is installed. A phone that"
        " also has G.711 uses that. Opus needs `codec_opus_open_source.so`, which Debian has.",
        "ulaw,alaw",
    ),
    "TRUNK_SRTP": NodeSetting(
        "`no`, `optional` or `required`: SRTP with keys in SDP (SDES). `required` offers and"
        " accepts no other audio, and needs TLS, because the keys are in SIP. A trunk is reached"
        " over TLS if `PBX_TRUNK` is `sips:…` or has `;transport=tls`.",
        "no",
    ),
    "TRUNK_TRUSTED": NodeSetting(
        "`yes` sends withheld numbers to the trunk, marked as such ([callers](callers.md)).", "no"
    ),
    "TRUNK_REFER": NodeSetting(
        "`yes` lets the carrier's REFERs reach the engine, which needs"
        " `SWITCHROOM_TRUNK_REFER=true` to accept [transfers](sessions.md) by phones behind the"
        " trunk.",
        "no",
    ),
    "TRUNK_QUALIFY_S": NodeSetting(
        "How often the carrier is checked with OPTIONS; 0 checks nothing.", "0"
    ),
    "FURTHER_TRUNKS": NodeSetting(
        "Further carriers, `backup=sip:203.0.113.7:5060"
        " third=sip:user:password@sip.example:5061;transport=tls`, with the options of the first"
        " trunk; names in lower case. A login is written as in a SIP address, `%40` for `@`. With"
        " `PBX_TRUNK_SRTP=required` all need TLS."
    ),
    "STIR_KEY": NodeSetting(
        "STIR/SHAKEN: path of a private key (ES256) whose certificate is at the https address;"
        " then calls over the trunk that show one of the numbers have a signed `Identity`. Read"
        " when the PBX starts."
    ),
    "STIR_CERT_URL": NodeSetting("The https address of its certificate."),
    "STIR_NUMBERS": NodeSetting(f"The numbers, `+4721930000,…`, {_LIST}."),
    "STIR_LEVEL": NodeSetting("The level of attestation.", "A"),
    # agents' phones
    "AGENT_PASSWORD": NodeSetting(
        "For labs: endpoints 1001 to 1009 share it. Without it each agent's phone has [a password"
        " of its own](operations/deploy.md#passwords-of-agents)."
    ),
    "AGENT_NETS": NodeSetting(
        f"Addresses or networks of agents' SIP phones, {_LIST}. Phones elsewhere are refused, as"
        " with a wrong password. Phones in browsers come by way of `PBX_PHONE_PROXIES`.",
        "0.0.0.0/0,::/0",
    ),
    "AGENT_DIGESTS": NodeSetting(
        "`MD5`, `SHA-256` or both, in the order in which phones are offered them; many phones fail"
        " if the first one is new to them.",
        "MD5",
    ),
    "AGENT_CODECS": NodeSetting("As `PBX_TRUNK_CODECS`.", "ulaw,alaw"),
    "AGENT_SRTP": NodeSetting(
        "As `PBX_TRUNK_SRTP`; also `webrtc`: DTLS and ICE for the phones of `agent-template`, if"
        " they are all browsers (needs `PBX_PHONE_WEBSOCKET=yes`). Agents with `phone: browser`"
        " have them anyway.",
        "no",
    ),
    "AGENT_QUALIFY_S": NodeSetting(
        "How often agents' phones are checked with OPTIONS, in seconds; one that does not answer is"
        " offline until it answers or registers again. 0 checks none, and a dead phone is online"
        " until its registration expires.",
        "30",
    ),
    "AGENT_REFER": NodeSetting(
        "`yes` lets agents' phones [transfer](sessions.md) by REFER. One with `Refer-Sub: false`"
        " crashes Asterisk before 20.21, 22.11 and 23.5, with all its calls. With `no`"
        " the transfer key of a phone is declined (603).",
        "no",
    ),
    "AGENTS_AT_TRUNK": NodeSetting(
        "`yes`: phones have the trunk's address, too, as behind one SIP proxy, so their user names"
        " count first. With `no` the trunk's address counts first, and its callers may have any"
        " name.",
        "",
        "`yes` if the trunk is on this machine",
    ),
    "PHONE_WEBSOCKET": NodeSetting(
        "`yes` serves SIP to phones in browsers at `/ws` of ARI's port (`wss` with"
        " `PBX_CONTROL_TLS_CERT`), which the REST layer passes on to it. With it, `pjsip.conf` has"
        " `browser-template`, from which the phones of agents with `phone: browser` are made:"
        " [browser phones](how-to/browser-phone.md).",
        "no",
    ),
    "PHONE_PROXIES": NodeSetting(
        f"Addresses or networks of the REST layers, {_LIST}: `/ws` serves no others, and REST"
        " layers reach nothing else there. One on the node's machine connects from 127.0.0.2, if"
        " `SWITCHROOM_API_PHONE_NODES` names the node by a loopback address.",
        "127.0.0.2",
    ),
    "BROWSER_CODECS": NodeSetting(
        "Codecs of phones in browsers, as `PBX_TRUNK_CODECS`. `opus,ulaw` and `g722,ulaw` are"
        " offered in this order; with G.711 first, the call's codec comes first. With `opus` a bad"
        " network is heard less, and Asterisk 22.10 garbles the recordings of these phones:"
        " [codecs](how-to/browser-phone.md#codecs).",
        "ulaw,alaw",
    ),
    # other nodes
    "PEERS": NodeSetting(f"Addresses or networks of the other nodes, {_LIST}.", "127.0.0.1"),
    "PEER_PASSWORD": NodeSetting(
        "The password that all nodes share, without which a node accepts no calls from others:"
        " [agents on several nodes](operations/deploy.md#agents-on-several-nodes).",
        None,
        "a random one",
    ),
    "REFER_TIMEOUT_S": NodeSetting(
        "How many seconds the customer of a phone that has sent REFER at [another"
        " node](operations/deploy.md#agents-on-several-nodes) waits for the target; then the phone"
        " rings again. Longer than targets ring.",
        "90",
    ),
    # the machine
    "MEDIA_CACHE_S": NodeSetting(
        "`asterisk-config/sweep_media.py`, which runs beside Asterisk, leaves prompts in its media"
        " cache that were played in so many seconds.",
        "86400",
    ),
    "MEDIA_CACHE_BYTES": NodeSetting("It leaves the last ones of this size.", "2147483648"),
    "DATA_DIR": NodeSetting("Where Asterisk's own files are.", "/usr/share/asterisk"),
}
# Those that have a value without the environment, some of them an empty one.
DEFAULTS: Mapping[str, str] = {
    name: each.default for name, each in SETTINGS.items() if each.default is not None
}
