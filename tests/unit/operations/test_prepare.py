"""The values of the PBX configuration: defaults, the environment, and what is derived."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.harness.operations.pbx_script import load_prepare


@pytest.fixture
def prepare() -> ModuleType:
    """Load the script."""
    return load_prepare()


def test_an_empty_variable_counts_as_not_set(prepare: ModuleType) -> None:
    """Compose passes variables that the operator did not set as empty ones."""
    found = prepare.values(Path("/x"), {"PBX_RTP_TIMEOUT_S": "", "PBX_TRUNK_TRUSTED": "yes"})
    assert (found["RTP_TIMEOUT_S"], found["TRUNK_TRUSTED"], found["EXTERNAL"]) == ("45", "yes", "")


def test_an_external_address(prepare: ModuleType) -> None:
    """SIP and SDP have it, except for peers in local networks."""
    environ = {"PBX_EXTERNAL_ADDRESS": "198.51.100.7", "PBX_LOCAL_NETS": "10.0.0.0/8, 192.0.2.0/24"}
    assert prepare.values(Path("/x"), environ)["EXTERNAL"].splitlines() == [
        "external_signaling_address = 198.51.100.7",
        "external_media_address = 198.51.100.7",
        "local_net = 10.0.0.0/8",
        "local_net = 192.0.2.0/24",
    ]


def test_only_engines_are_permitted(prepare: ModuleType) -> None:
    """ARI and AMI serve the machine itself, or the networks that are listed."""
    default = prepare.values(Path("/x"), {})["ENGINES_ONLY"]
    listed = prepare.values(Path("/x"), {"PBX_ENGINES": "192.0.2.11, 10.0.0.0/8"})["ENGINES_ONLY"]
    assert default == "deny = 0.0.0.0/0,::/0\npermit = 127.0.0.1/32,::1/128"
    assert listed == "deny = 0.0.0.0/0,::/0\npermit = 192.0.2.11/32,10.0.0.0/8"


BROWSERS = {"PBX_PHONE_WEBSOCKET": "yes"}
LOCAL = "127.0.0.1/32,::1/128"


@pytest.mark.parametrize(
    ("environ", "setting"),
    [
        ({"PBX_ENGINES": "engines.example"}, "PBX_ENGINES"),
        ({"PBX_BIND": "pbx.example"}, "PBX_BIND"),
        ({"PBX_BIND": "192.0.2.1", "PBX_SIP_BIND": "192.0.2.1"}, "PBX_BIND"),
        ({"PBX_BIND": "0.0.0.0"}, "PBX_BIND"),
        ({"PBX_SIP_BIND": "10.0.0.0/99"}, "PBX_SIP_BIND"),
        ({"PBX_TRUNK": "carrier.example"}, "PBX_TRUNK"),
        ({**BROWSERS, "PBX_PHONE_PROXIES": "rest.example"}, "PBX_PHONE_PROXIES"),
        ({**BROWSERS, "PBX_PHONE_PROXIES": "127.0.0.0/8"}, "PBX_PHONE_PROXIES"),
        ({**BROWSERS, "PBX_TRUNK_MATCH": "192.0.2.1, 127.0.0.2:5080"}, "PBX_PHONE_PROXIES"),
    ],
)
def test_a_bad_setting_is_named(prepare: ModuleType, environ: dict[str, str], setting: str) -> None:
    """A bad value is refused, and so is an address that is the trunk's or SIP's, too."""
    with pytest.raises(Exception, match=f"^{setting}: "):
        prepare.values(Path("/x"), environ)


@pytest.mark.parametrize(
    ("environ", "order"),
    [
        ({}, "header,username,ip"),
        ({"PBX_TRUNK": "sip:[::1]:5060"}, "header,username,ip"),
        ({"PBX_TRUNK": "sip:carrier.example"}, "ip,header,username"),
        ({"PBX_TRUNK": "sip:192.0.2.9", "PBX_AGENTS_AT_TRUNK": "yes"}, "header,username,ip"),
        ({"PBX_AGENTS_AT_TRUNK": "no"}, "ip,header,username"),
    ],
)
def test_the_trunk_is_identified_first(
    prepare: ModuleType, environ: dict[str, str], order: str
) -> None:
    """By its address, unless phones have that address, too."""
    assert prepare.values(Path("/x"), environ)["IDENTIFY_ORDER"] == order


@pytest.mark.parametrize(
    "environ",
    [
        {"PBX_BIND": "10.0.0.1", "PBX_SIP_BIND": "192.0.2.1"},
        {"PBX_BIND": "192.0.2.1", "PBX_SIP_BIND": "192.0.2.1", "PBX_SHARED_BIND": "yes"},
    ],
)
def test_separate_or_allowed_addresses(prepare: ModuleType, environ: dict[str, str]) -> None:
    """A private address is accepted for ARI and AMI, and SIP's own one if a setting says so."""
    assert prepare.values(Path("/x"), environ)["BIND"] == environ["PBX_BIND"]


TLS = {"PBX_TLS_CERT": "/c.pem", "PBX_TLS_KEY": "/k.pem"}
LOGIN = {"PBX_TRUNK_REGISTER": "yes", "PBX_TRUNK_USER": "me", "PBX_TRUNK_PASSWORD": "secret"}


@pytest.mark.parametrize(
    ("environ", "setting"),
    [
        ({"PBX_TLS_CERT": "/c.pem"}, "PBX_TLS_KEY"),
        ({"PBX_TLS_KEY": "/k.pem"}, "PBX_TLS_CERT"),
        ({"PBX_TRUNK": "sips:carrier.example"}, "PBX_TRUNK"),
        ({"PBX_AGENT_SRTP": "required"}, "PBX_AGENT_SRTP"),
        ({**TLS, "PBX_TRUNK_SRTP": "required"}, "PBX_TRUNK_SRTP"),
        ({"PBX_TRUNK_SRTP": "maybe"}, "PBX_TRUNK_SRTP"),
        ({"PBX_AGENT_SRTP": "webrtc"}, "PBX_AGENT_SRTP"),
        ({"PBX_TRUNK_SRTP": "webrtc", "PBX_PHONE_WEBSOCKET": "yes"}, "PBX_TRUNK_SRTP"),
        ({"PBX_TRUNK_USER": "u"}, "PBX_TRUNK_PASSWORD"),
        ({"PBX_TRUNK_PASSWORD": "p"}, "PBX_TRUNK_USER"),
        ({"PBX_TRUNK_REGISTER": "yes"}, "PBX_TRUNK_REGISTER"),
    ],
)
def test_a_setting_without_its_needs(
    prepare: ModuleType, environ: dict[str, str], setting: str
) -> None:
    """SRTP needs TLS, which needs a certificate and its key; a login has two parts."""
    with pytest.raises(Exception, match=f"^{setting}: "):
        prepare.values(Path("/x"), environ)


def test_an_encrypted_trunk_and_phones(prepare: ModuleType) -> None:
    """The trunk is reached over TLS, and audio in the clear is refused where SRTP is required."""
    environ = {
        **TLS,
        "PBX_TRUNK": "sip:carrier.example;transport=tls",
        "PBX_TRUNK_SRTP": "required",
        "PBX_AGENT_SRTP": "optional",
        "PBX_EXTERNAL_ADDRESS": "198.51.100.7",
    }
    found = prepare.values(Path("/x"), environ)
    assert "transport=tls" in found["TRUNK"]
    assert "cert_file = /c.pem" in found["TLS_TRANSPORT"]
    assert "external_media_address = 198.51.100.7" in found["TLS_TRANSPORT"]
    assert found["TRUNK_ENCRYPTION"].endswith("optimistic = no")
    assert found["AGENT_ENCRYPTION"].endswith("optimistic = yes")


def test_a_trunk_over_tcp(prepare: ModuleType) -> None:
    """The parameter of its address says so; another one that only begins alike does not."""
    for trunk, transport in (
        ("sip:carrier.example;transport=TCP", "tcp"),
        ("sip:carrier.example;lr;transport=tcp", "tcp"),
        ("sip:carrier.example;transport=tcpish", "udp"),
        ("sip:carrier.example", "udp"),
        ("sips:carrier.example", "tls"),
    ):
        found = prepare.values(Path("/x"), {**TLS, **LOGIN, "PBX_TRUNK": trunk})
        assert f"transport = {transport}\n" in found["TRUNK_REGISTRATION"]


@pytest.mark.parametrize("transport", ["", ";transport=tcp", ";transport=tls"])
def test_a_trunk_has_no_transport_of_its_own(prepare: ModuleType, transport: str) -> None:
    """A carrier may call over another one than it is called over."""
    further = {**TLS, "PBX_FURTHER_TRUNKS": f"backup=sip:203.0.113.7{transport}"}
    assert "transport =" not in prepare.values(Path("/x"), further)["MORE_TRUNKS"]


CONTROL_TLS = {"PBX_CONTROL_TLS_CERT": "/c.pem", "PBX_CONTROL_TLS_KEY": "/k.pem"}


def test_ari_and_ami_over_tls(prepare: ModuleType) -> None:
    """On the ports that they have in clear text; what is left of that no network reaches."""
    plain = prepare.values(Path("/x"), {"PBX_BIND": "10.0.0.11"})
    assert plain["ARI_LISTENER"] == "enabled = yes\nbindaddr = 10.0.0.11\nbindport = 8088"
    assert plain["AMI_LISTENER"] == "bindaddr = 10.0.0.11\nport = 5038"
    found = prepare.values(Path("/x"), {"PBX_BIND": "fd00::1", **CONTROL_TLS})
    assert found["ARI_LISTENER"].startswith("enabled = no\n")
    assert found["AMI_LISTENER"].startswith("bindaddr = 127.0.0.1\nport = 15038\n")
    for name, port in (("ARI", 8088), ("AMI", 5038)):
        lines = found[f"{name}_LISTENER"].splitlines()
        assert {"tlsenable = yes", f"tlsbindaddr = [fd00::1]:{port}"} <= set(lines)
        assert {"tlscertfile = /c.pem", "tlsprivatekey = /k.pem"} <= set(lines)


@pytest.mark.parametrize("given", CONTROL_TLS)
def test_a_certificate_has_its_key(prepare: ModuleType, given: str) -> None:
    """One path without the other is refused, and named."""
    (missing,) = CONTROL_TLS.keys() - {given}
    with pytest.raises(Exception, match=f"^{missing}: "):
        prepare.values(Path("/x"), {given: "/x.pem"})


@pytest.mark.parametrize(
    ("environ", "setting"),
    [
        ({}, "PBX_STIR_CERT_URL"),
        ({"PBX_STIR_CERT_URL": "http://certificates.example.com/c.pem"}, "PBX_STIR_CERT_URL"),
        ({"PBX_STIR_LEVEL": "D"}, "PBX_STIR_LEVEL"),
        ({"PBX_STIR_NUMBERS": ""}, "PBX_STIR_NUMBERS"),
        ({"PBX_STIR_NUMBERS": "+4721930000, 21930001"}, "PBX_STIR_NUMBERS"),
    ],
)
def test_wrong_settings_of_signed_calls(
    prepare: ModuleType, environ: dict[str, str], setting: str
) -> None:
    """The message names the setting."""
    url = "https://certificates.example.com/c.pem"
    usual = {"PBX_STIR_KEY": "/key.pem", "PBX_STIR_NUMBERS": "+4721930000"}
    given = usual | ({"PBX_STIR_CERT_URL": url} if setting != "PBX_STIR_CERT_URL" else {})
    with pytest.raises(prepare.SettingError, match=setting):
        prepare.values(Path("/x"), given | environ)


def test_signed_calls(prepare: ModuleType) -> None:
    """The numbers have no +: with it Asterisk signs nothing."""
    environ = {
        "PBX_STIR_KEY": "/key.pem",
        "PBX_STIR_CERT_URL": "https://certificates.example.com/c.pem",
        "PBX_STIR_NUMBERS": "+4721930000, +4721930001",
    }
    found = prepare.values(Path("/x"), environ)
    assert "[4721930000]\ntype = tn" in found["STIR_SHAKEN"]
    assert found["STIR_PROFILE"] == "stir_shaken_profile = attest"
    without = prepare.values(Path("/x"), {})
    assert (without["STIR_SHAKEN"], without["STIR_MODULES"]) == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "trunk=sip:192.0.2.7",
        "Backup=sip:192.0.2.7",
        "backup=192.0.2.7",
        "backup",
        "a=sip:192.0.2.7 a=sip:192.0.2.8",
        "backup=sip:192.0.2.7;transport=tls",
        "backup=sip:user:secret@",
    ],
)
def test_wrong_further_trunks(prepare: ModuleType, text: str) -> None:
    """The message names the setting, and no password."""
    with pytest.raises(prepare.SettingError, match="PBX_FURTHER_TRUNKS") as refused:
        prepare.values(Path("/x"), {"PBX_FURTHER_TRUNKS": text})
    assert "secret" not in str(refused.value)


def test_srtp_needs_tls_on_all_trunks(prepare: ModuleType) -> None:
    """Otherwise keys would travel in clear text."""
    trunk = {"PBX_TRUNK": "sips:carrier.example", "PBX_TRUNK_SRTP": "required", **TLS}
    with pytest.raises(prepare.SettingError, match="PBX_FURTHER_TRUNKS: backup needs"):
        prepare.values(Path("/x"), {**trunk, "PBX_FURTHER_TRUNKS": "backup=sip:192.0.2.7"})


def test_a_further_trunk_with_tls_and_a_login(prepare: ModuleType) -> None:
    """Its password may have any character, as in a SIP address."""
    text = "backup=sip:us:a%3Bb%40@192.0.2.7:5061;transport=tls"
    found = prepare.values(Path("/x"), {**TLS, "PBX_FURTHER_TRUNKS": text})["MORE_TRUNKS"]
    lines = found.splitlines()
    assert r"contact = sip:192.0.2.7:5061\;transport=tls" in lines
    assert {"outbound_auth = backup", "match = 192.0.2.7"} <= {*lines}
    assert {"username = us", r"password = a\;b@"} <= {*lines}


def test_a_semicolon_is_no_comment(prepare: ModuleType) -> None:
    """Asterisk would ignore the rest of an address or a password."""
    environ = {
        **TLS,
        "PBX_TRUNK": "sip:carrier.example;transport=tls",
        "PBX_TRUNK_USER": "us",
        "PBX_TRUNK_PASSWORD": "a;b",
        "PBX_TRUNK_REGISTER": "yes",
        "PBX_AMI_PASSWORD": r"c\;d",
        "PBX_AGENT_PASSWORD": "e;f",
    }
    found = prepare.values(Path("/x"), environ)
    assert found["TRUNK"] == r"sip:carrier.example\;transport=tls"
    assert r"server_uri = sip:carrier.example\;transport=tls" in found["TRUNK_REGISTRATION"]
    assert r"password = a\;b" in found["TRUNK_LOGIN"]
    assert found["AMI_PASSWORD"] == environ["PBX_AMI_PASSWORD"]
    assert r"password = e\;f" in found["SHARED_PASSWORD_AGENTS"]


def test_further_trunks(prepare: ModuleType) -> None:
    """Each is an endpoint of its own, known by its address."""
    environ = {"PBX_FURTHER_TRUNKS": "backup=sip:192.0.2.7:5070 third=sip:sbc.example.com"}
    found = prepare.values(Path("/x"), environ)["MORE_TRUNKS"]
    assert "[backup](trunk-options)" in found
    assert "contact = sip:192.0.2.7:5070" in found
    assert "match = sbc.example.com" in found


def test_phones_in_browsers(prepare: ModuleType) -> None:
    """Their template has no variable, with which Asterisk accepts no change, and no REFER."""
    assert prepare.values(Path("/x"), {})["BROWSER_TEMPLATE"] == ""
    found = prepare.values(Path("/x"), BROWSERS)
    template = found["BROWSER_TEMPLATE"].splitlines()
    assert {"webrtc = yes", "allow = ulaw,alaw", "allow_transfer = no"} <= set(template)
    assert not [line for line in template if "set_var" in line or "@" in line]
    assert "opus" not in found["WS_MODULES"]
    opus = {"PBX_PHONE_WEBSOCKET": "yes", "PBX_BROWSER_CODECS": "opus,ulaw"}
    found = prepare.values(Path("/x"), opus)
    assert "allow = opus,ulaw" in found["BROWSER_TEMPLATE"]
    assert "codec_opus_open_source.so" in found["WS_MODULES"]


@pytest.mark.parametrize(
    ("codecs", "is_own"),
    [("ulaw,alaw", False), ("alaw,opus", False), ("opus,ulaw", True), ("g722", True)],
)
def test_the_order_of_codecs_of_browsers(prepare: ModuleType, codecs: str, is_own: bool) -> None:
    """The call's codec is offered first, unless the first one is named for its quality."""
    environ = {"PBX_PHONE_WEBSOCKET": "yes", "PBX_BROWSER_CODECS": codecs}
    template = prepare.values(Path("/x"), environ)["BROWSER_TEMPLATE"].splitlines()
    assert ("outgoing_call_offer_pref = local_merge" in template) is is_own


def permitted(access: str, path: str) -> list[str]:
    """Return the networks of each restriction of a path, as Asterisk compares it: by case."""
    sections = access.removeprefix("[").split("\n[")
    found = (each.partition("]\n") for each in sections)
    return [
        options.rpartition("permit = ")[2]
        for prefix, _, options in found
        if path.startswith(prefix)
    ]


@pytest.mark.parametrize("handler", ["ari", "media", "RAWMAN", "Phoneprov", "zzz"])
def test_every_other_path_is_for_engines(prepare: ModuleType, handler: str) -> None:
    """Also one that no list knows; an empty or encoded name is no handler's."""
    access = prepare.values(Path("/x"), BROWSERS)["HTTP_ACCESS"]
    for spelling in (handler, handler.lower(), handler.upper(), handler.swapcase()):
        assert LOCAL in permitted(access, f"/{spelling}")
    for path in ("/", "//ari", "/%61ri", "/%77s", "/./ws"):
        assert permitted(access, path) == [f"{LOCAL},127.0.0.2/32"]
    closed = prepare.values(Path("/x"), {})["HTTP_ACCESS"]
    assert permitted(closed, f"/{handler}") == [LOCAL]


def test_only_rest_layers_reach_the_websocket(prepare: ModuleType) -> None:
    """Not the phones' networks, and by default only one on this machine, with its own address."""
    own = {"PBX_AGENT_NETS": "198.51.100.0/24"}
    for proxies, expected in (
        (None, "127.0.0.2/32"),
        ("10.0.0.21, 10.0.0.22", "10.0.0.21/32,10.0.0.22/32"),
    ):
        given = BROWSERS | own | ({"PBX_PHONE_PROXIES": proxies} if proxies else {})
        found = prepare.values(Path("/x"), given)
        for spelling in ("/ws", "/WS"):
            assert permitted(found["HTTP_ACCESS"], spelling) == [expected, f"{LOCAL},{expected}"]
        assert found["AGENTS_ONLY"].splitlines()[-1] == f"permit = 198.51.100.0/24,{expected}"


def test_browsers_reach_a_node_behind_nat(prepare: ModuleType) -> None:
    """ICE offers the public address beside the private one, if it is known which is mapped."""
    behind = {
        "PBX_PHONE_WEBSOCKET": "yes",
        "PBX_SIP_BIND": "127.0.0.1",
        "PBX_EXTERNAL_ADDRESS": "198.51.100.7",
    }
    found = prepare.values(Path("/x"), behind)["ICE_CANDIDATES"]
    assert "127.0.0.1 => 198.51.100.7,include_local_address" in found.splitlines()
    del behind["PBX_EXTERNAL_ADDRESS"]
    assert prepare.values(Path("/x"), behind)["ICE_CANDIDATES"] == ""
