"""STIR/SHAKEN (RFC 8224): the trunk's calls are signed with the operator's certificate."""

# ruff: noqa: INP001 - beside a script, not a package

import re
from collections.abc import Iterator, Mapping

from config_value import escaped
from errors import SettingError

LEVELS = ("A", "B", "C")
_MODULES = """
; --- signed caller ids (PBX_STIR_KEY)
load = res_crypto.so
load = res_stir_shaken.so
load = res_pjsip_stir_shaken.so"""


def signing(known: Mapping[str, str]) -> dict[str, str]:
    """Return the placeholders of signed calls, empty without a key; raises SettingError."""
    if not known["STIR_KEY"]:
        return {"STIR_MODULES": "", "STIR_PROFILE": "", "STIR_SHAKEN": ""}
    if not known["STIR_CERT_URL"].startswith("https://"):
        raise SettingError("STIR_CERT_URL", "the https:// address of the public certificate")
    if known["STIR_LEVEL"] not in LEVELS:
        raise SettingError("STIR_LEVEL", f"allowed: {', '.join(LEVELS)}")
    return {
        "STIR_MODULES": _MODULES,
        "STIR_PROFILE": "stir_shaken_profile = attest",
        "STIR_SHAKEN": "\n".join((_attestation(known), *_numbers(known["STIR_NUMBERS"]))),
    }


def _attestation(known: Mapping[str, str]) -> str:
    return f"""[attestation]
type = attestation
private_key_file = {known["STIR_KEY"]}
public_cert_url = {escaped(known["STIR_CERT_URL"])}
attest_level = {known["STIR_LEVEL"]}

[attest]
type = profile
endpoint_behavior = attest
"""


def _numbers(text: str) -> Iterator[str]:
    numbers = [each.strip() for each in text.split(",") if each.strip()]
    if not numbers:
        raise SettingError("STIR_NUMBERS", "numbers such as +4721930000, separated by commas")
    for number in numbers:
        if not re.fullmatch(r"\+[1-9][0-9]{6,14}", number):
            raise SettingError("STIR_NUMBERS", f"not a number such as +4721930000: {number}")
        # With a + Asterisk signs nothing, and says nothing.
        yield f"[{number[1:]}]\ntype = tn\n"
