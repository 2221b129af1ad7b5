"""Command-line arguments: the account, and checks of values."""

import re
from ipaddress import ip_network
from typing import Annotated, get_args

import phonenumbers
from cyclopts import Parameter

from api.accounts.store import TranscriptSetting
from api.auth.principal import BUNDLES, SCOPES, unknown_scopes
from cli.database.runtime import fail
from wire.decoding import patterns
from wire.decoding.errors import BadInput, InputErrors
from wire.decoding.lenient import convert
from wire.decoding.patterns import NAME, PATTERNS
from wire.decoding.texts import email_address
from wire.dial_policy import MAX_PREFIXES, MAX_TRUNKS, NumberType
from wire.phone_numbers.e164 import e164
from wire.phone_numbers.written_number import InvalidNumber
from wire.streams.recognizer import MAX_RECOGNIZERS

AccountId = Annotated[str, Parameter(help="Account id.")]

NUMBER_TYPES: tuple[NumberType, ...] = get_args(NumberType)
_PREFIX = re.compile(r"\+[1-9][0-9]{0,14}|sips?:")
_LINE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]+")  # half a surrogate pair is no UTF-8
_TRUNK = re.compile(r"[a-z][a-z0-9_-]{0,31}")


def check_name(text: str) -> str:
    """Return the name of an account or agent; exit if it is invalid."""
    if re.search(NAME, text) is None:
        fail(f"{text or 'an empty text'}: expected {PATTERNS[NAME]}")
    return text


def check_line(text: str, option: str, max_chars: int) -> str:
    """Return a text that REST takes, too; exit if it is empty, too long or has line breaks."""
    if len(text) > max_chars or not _LINE.fullmatch(text):
        fail(f"{option}: 1 to {max_chars} characters are expected, without control characters")
    return text


def check_scopes(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return scopes and bundles; exit if there is no such one."""
    if unknown := unknown_scopes(names):
        fail(f"--scope {unknown[0]}: one of {', '.join((*BUNDLES, *SCOPES))} is expected")
    return names


def check_networks(networks: tuple[str, ...]) -> tuple[str, ...]:
    """Return networks; exit if one is invalid."""
    for each in networks:
        try:
            ip_network(each)
        except ValueError:
            fail(f"--network {each}: a network such as 192.0.2.0/24 is expected")
    return networks


def parse_prefixes(prefixes: list[str]) -> tuple[str, ...] | None:
    """Return the prefixes of allowed destinations; None for all."""
    if prefixes == ["any"]:
        return None
    return _checked_prefixes(prefixes, "--allow", "a prefix such as +47, or sip:, or `any`,")


def parse_denied(prefixes: list[str]) -> tuple[str, ...]:
    """Return the prefixes of denied destinations."""
    return _checked_prefixes(prefixes, "--deny", "a prefix such as +1876, or `none`,")


def parse_number_types(types: list[str]) -> tuple[NumberType, ...]:
    """Return types of costly numbers; exit if there is no such one."""
    found: list[NumberType] = [each for each in NUMBER_TYPES if each in types]
    if unknown := sorted({*types} - {*found, "none"}):
        fail(f"--allow-type {unknown[0]}: one of {', '.join(NUMBER_TYPES)} is expected")
    return tuple(found)


def parse_recognizers(names: list[str]) -> tuple[str, ...] | None:
    """Return the recognizers that an account may name; None for all."""
    if names == ["any"]:
        return None
    if names == ["none"]:
        return ()
    if len(names) > MAX_RECOGNIZERS:
        fail(f"--allow-recognizer: at most {MAX_RECOGNIZERS} are expected")
    for name in names:
        if name in {"any", "none"} or not re.search(patterns.RECOGNIZER, name):
            fail(f"--allow-recognizer {name}: a name such as whisper, or `any` alone, is expected")
    return tuple(names)


def _checked_prefixes(prefixes: list[str], option: str, expected: str) -> tuple[str, ...]:
    if prefixes == ["none"]:
        return ()
    if len(prefixes) > 1 and (alone := {"any", "none"}.intersection(prefixes)):
        fail(f"{option} {min(alone)}: it must stand alone, without other prefixes")
    if len(prefixes) > MAX_PREFIXES:
        fail(f"{option}: at most {MAX_PREFIXES:,} prefixes are expected")
    for prefix in prefixes:
        if _PREFIX.fullmatch(prefix) is None:
            fail(f"{option} {prefix}: {expected} is expected")
    return tuple(prefixes)


def parse_caller_id(text: str, region: str | None) -> str:
    """Return a phone number as E.164; one without a + or 00 is of the region."""
    try:
        return e164(text, region)
    except InvalidNumber as error:
        fail(f"{text}: {error}; a number such as +4721930000 is expected")


def parse_region(text: str) -> str | None:
    """Return the region of numbers without a +; None for `none`."""
    if text == "none":
        return None
    if text.upper() not in phonenumbers.SUPPORTED_REGIONS:
        fail(f"{text}: a country such as NO, or `none`, is expected")
    return text.upper()


def parse_transcripts(recognizer: str, language: str, hints: list[str]) -> TranscriptSetting | None:
    """Return who transcribes recordings; None for `none`."""
    if recognizer == "none":
        return None
    given = {"recognizer": recognizer, "language": language, "hints": hints}
    try:
        setting: TranscriptSetting = convert(given, TranscriptSetting)
    except (BadInput, InputErrors) as error:
        fail(str(error))
    return setting


def parse_trunks(names: list[str]) -> tuple[str, ...]:
    """Return names of trunks; the engines know which there are."""
    if len(names) > MAX_TRUNKS:
        fail(f"at most {MAX_TRUNKS} trunks are expected")
    for name in names:
        if not _TRUNK.fullmatch(name):
            fail(f"{name}: the name of a trunk such as backup is expected")
    return tuple(names)


def parse_email(text: str) -> str | None:
    """Return an e-mail address; None for `none`."""
    if text == "none":
        return None
    address = email_address(text)
    if not re.search(patterns.EMAIL, address):
        fail(f"{text}: an address such as crm@example.com, or `none`, is expected")
    return address
