"""`switchroom account`: invalid input is one line on standard error and exit status 2."""

import json
from pathlib import Path

import pytest

from tests.harness.api.cli import switchroom


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "bad name"), "bad name: expected "),
        (("create", "acme", "--allow", "47"), "--allow 47: a prefix such as +47"),
        (
            ("create", "acme", "--allow", "any", "--allow", "+47"),
            "--allow any: it must stand alone",
        ),
        (("create", "acme", "--deny", "+1", "--deny", "none"), "--deny none: it must stand alone"),
        (
            ("create", "acme", *("--deny", "+47") * 1_001),
            "--deny: at most 1,000 prefixes are expected",
        ),
        (
            ("create", "acme", *("--allow", "+47") * 1_001),
            "--allow: at most 1,000 prefixes are expected",
        ),
        (("create", "acme", "--name", "Acme\n"), "--name: 1 to 128 characters"),
        (("trunks", "acme", *("backup",) * 17), "at most 16 trunks are expected"),
        (("region", "acme", "Norway"), "Norway: a country such as NO"),
        (("email", "acme", "nobody"), "nobody: an address such as crm@example.com"),
        (("trunks", "acme", "Backup"), "Backup: the name of a trunk such as backup"),
        (("transcripts", "acme", "Whisper"), "recognizer: expected the name of a recognizer"),
        *(
            (("create", "acme", "--allow-recognizer", "grammar", "--allow-recognizer", name), said)
            for name, said in (
                ("any", "--allow-recognizer any: a name such as whisper, or `any` alone"),
                ("Whisper", "--allow-recognizer Whisper: a name such as whisper"),
            )
        ),
        (
            ("create", "acme", *("--allow-recognizer", "whisper") * 33),
            "--allow-recognizer: at most 32 are expected",
        ),
        (("transcripts", "acme", "whisper", "--language", "?"), "language: expected a language"),
        *(
            (("dnc", "import", "acme", __file__, "--provider", text), "--provider: 1 to 64 char")
            for text in ("", "a\tb", "\udce5")
        ),
    ],
)
async def test_invalid_arguments(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """The error names what is expected, before a database is created."""
    status, reported = await switchroom(tmp_path, "account", *words)
    assert (status, reported.startswith(f"switchroom: {said}")) == (2, True), reported


@pytest.mark.parametrize(
    "words",
    [
        ("key", "list"),
        ("number", "list"),
        ("endpoint", "list"),
        ("dnc-token", "list"),
        ("dnc-token", "create"),
    ],
)
async def test_unknown_account(tmp_path: Path, words: tuple[str, ...]) -> None:
    """A mistyped account is an error, not an empty list."""
    status, reported = await switchroom(tmp_path, "account", *words, "acct_nope")
    assert (status, reported.splitlines()[-1]) == (2, "switchroom: no account acct_nope")


@pytest.mark.parametrize("words", [("create", "acme"), ("rotate", "acme", "3f9a12")])
async def test_no_days_are_not_an_unlimited_key(tmp_path: Path, words: tuple[str, ...]) -> None:
    """`--days 0` is rejected instead of creating a key that never expires."""
    status, reported = await switchroom(tmp_path, "account", "key", *words, "--days", "0")
    assert (status, "Must be >= 1" in reported) == (2, True), reported


@pytest.mark.parametrize("limit", ["--max-calls", "--max-calls-per-s", "--max-live-legs"])
async def test_limits_are_not_negative(tmp_path: Path, limit: str) -> None:
    """A negative limit is rejected, and nothing is created."""
    status, reported = await switchroom(tmp_path, "account", "create", "acme", limit, "-1")
    assert status != 0
    assert "Must be >= 0" in reported
    status, reported = await switchroom(tmp_path, "account", "number", "list", "acme")
    assert (status, reported.splitlines()[-1]) == (2, "switchroom: no account acme")


@pytest.mark.parametrize(
    ("limit", "value", "most"),
    [
        ("--max-legs-per-s", "inf", 1_000_000_000),
        ("--max-minutes-per-day", "1000000001", 1_000_000_000),
        ("--keep-records-days", "36501", 36_500),
        ("--keep-recordings-days", "36501", 36_500),
    ],
)
async def test_limits_have_a_maximum(tmp_path: Path, limit: str, value: str, most: int) -> None:
    """A database stores no more, and a day of the past cannot be calculated without end."""
    status, reported = await switchroom(tmp_path, "account", "create", "acme", limit, value)
    assert (status, f"Must be <= {most}." in reported) == (2, True), reported


async def test_numbers_are_added_and_removed(tmp_path: Path) -> None:
    """`add`, `list` and `rm` change and show the numbers of an account."""
    mine = (tmp_path, "account")
    assert (await switchroom(*mine, "create", "acme"))[0] == 0
    assert (await switchroom(*mine, "number", "add", "acme", "+4721930000"))[0] == 0
    assert await switchroom(*mine, "number", "list", "acme") == (0, "+4721930000\n")
    assert (await switchroom(*mine, "number", "rm", "acme", "+4721930000"))[0] == 0
    assert await switchroom(*mine, "number", "list", "acme") == (0, "")
    reported = "switchroom: no such number: +4721930000 of account acme\n"
    assert await switchroom(*mine, "number", "rm", "acme", "+4721930000") == (1, reported)


async def test_endpoints_are_granted_to_one_account(tmp_path: Path) -> None:
    """`add`, `list` and `rm` change and show what an account's agents may have."""
    mine = (tmp_path, "account")
    for account in ("acme", "other"):
        await switchroom(*mine, "create", account)
    for _again in range(2):
        assert (await switchroom(*mine, "endpoint", "add", "acme", "PJSIP/1001"))[0] == 0
    assert await switchroom(*mine, "endpoint", "list", "acme") == (0, "PJSIP/1001\n")
    for refused in (("other", "PJSIP/1001"), ("acme", "SIP/1001"), ("unknown", "PJSIP/1002")):
        assert (await switchroom(*mine, "endpoint", "add", *refused))[0] > 0, refused
    assert (await switchroom(*mine, "endpoint", "rm", "acme", "PJSIP/1001"))[0] == 0
    assert (await switchroom(*mine, "endpoint", "rm", "acme", "PJSIP/1001"))[0] > 0
    assert (await switchroom(*mine, "endpoint", "add", "other", "PJSIP/1001"))[0] == 0


async def test_a_number_in_any_spelling(tmp_path: Path) -> None:
    """It is read as lists and contacts read it; without its country it is of the account's."""
    mine = (tmp_path, "account")
    await switchroom(*mine, "create", "acme")
    await switchroom(*mine, "region", "acme", "NO")
    for written in ("tel:+47-21-93-00-00", "21 93 00 01"):
        assert (await switchroom(*mine, "number", "add", "acme", written))[0] == 0
    listed = await switchroom(*mine, "number", "list", "acme")
    assert listed == (0, "+4721930000\n+4721930001\n")
    assert (await switchroom(*mine, "number", "rm", "acme", "004721930000"))[0] == 0
    assert (await switchroom(*mine, "number", "rm", "acme", "21930001"))[0] == 0
    assert await switchroom(*mine, "number", "list", "acme") == (0, "")


async def test_a_number_of_the_first_numbers_country(tmp_path: Path) -> None:
    """An account without a region has that of its first number that has a country."""
    mine = (tmp_path, "account")
    await switchroom(*mine, "create", "acme")
    for written in ("+80012345678", "+4721930000", "21930001"):
        status, said = await switchroom(*mine, "number", "add", "acme", written)
        assert status == 0, said
    file = tmp_path / "numbers.txt"
    file.write_text("90000001\n")
    imported = ("dnc", "import", "acme", str(file), "--provider", "p")
    assert await switchroom(*mine, *imported) == (0, "1 numbers\n")
    assert (await switchroom(*mine, "number", "rm", "acme", "21930001"))[0] == 0
    listed = await switchroom(*mine, "number", "list", "acme")
    assert listed == (0, "+80012345678\n+4721930000\n")


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("+491234567890123456", "too long: a number has at most 15 digits"),
        ("+4921930000 +4721930001", "more than one number"),
        ("12", "no country"),
    ],
)
async def test_a_number_that_is_none(tmp_path: Path, number: str, why: str) -> None:
    """It is refused with the reason and what is expected."""
    await switchroom(tmp_path, "account", "create", "acme")
    status, said = await switchroom(tmp_path, "account", "number", "add", "acme", number)
    assert (status, said.startswith(f"switchroom: {number}: {why}")) == (2, True), said
    assert "a number such as +4721930000 is expected" in said


async def test_transcripts(tmp_path: Path) -> None:
    """`transcripts` sets who transcribes, and `none` ends it."""
    await switchroom(tmp_path, "account", "create", "acme")
    words = ("account", "transcripts", "acme")
    status, shown = await switchroom(
        tmp_path, *words, "whisper", "--hint", "Oslo", "--output", "json"
    )
    assert status == 0
    setting = {"recognizer": "whisper", "language": "en-US", "hints": ["Oslo"]}
    assert json.loads(shown[shown.index("{") :])["transcripts"] == setting
    _, shown = await switchroom(tmp_path, *words, "none", "--output", "json")
    assert json.loads(shown[shown.index("{") :])["transcripts"] is None
