"""`switchroom account dnc-token`: create, list, revoke; `switchroom api terms` resends lists."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from api.dnc.store import DncStore
from api.dnc.tokens import DncTokenStore
from tests.harness.api import cli
from tests.harness.api.contacts.sheets import below_empty_rows, sheet
from tests.harness.api.rest import CUSTOMER, SECRET, Rest
from tests.harness.rpc.scene import TOKEN


async def switchroom(rest: Rest, folder: Path, *words: str) -> tuple[int | None, str]:
    """Run a command on the database and the engine of a test."""
    return await cli.switchroom(
        folder,
        *words,
        SWITCHROOM_ENGINE_URLS=f'["{rest.scene.url}"]',
        SWITCHROOM_RPC_TOKEN=TOKEN,
        SWITCHROOM_TOKEN_SECRET=SECRET,
    )


async def test_a_token_is_shown_once(rest: Rest, tmp_path: Path) -> None:
    """Only its creation prints it; the list has an id, by which it is revoked."""
    tokens = DncTokenStore(rest.services.database, rest.services.now_ms)
    status, token = await switchroom(rest, tmp_path, *["account", "dnc-token", "create", "acme"])
    assert (status, await tokens.account_of(token.strip())) == (0, "acme")
    _, shown = await switchroom(rest, tmp_path, *["account", "dnc-token", "list", "acme"])
    token_id = f"{token[:16]}_…"
    assert token_id in shown
    assert token.strip() not in shown
    revoke = ("account", "dnc-token", "revoke")
    assert (await switchroom(rest, tmp_path, *revoke, "other", token_id))[0] == 2
    assert (await switchroom(rest, tmp_path, *revoke, "acme", token_id))[0] == 0
    assert await tokens.account_of(token.strip()) is None
    status, said = await switchroom(rest, tmp_path, *["account", "dnc-token", "create", "nobody"])
    assert (status, said) == (2, "switchroom: no account nobody\n")


@pytest.mark.parametrize("words", [("api", "terms"), ("api", "terms", "--full")])
async def test_lists_are_pushed_by_command(
    rest: Rest, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The command pushes what is missing; with `--full`, everything."""
    lists = DncStore(rest.services.database, rest.services.now_ms)
    await lists.put("acme", [CUSTOMER], "p")
    if "--full" in words:
        same = {"after": 0, "version": (await lists.versions("acme")).version}
        await rest.scene.request("PATCH", "/terms/acme/dnc", same)
    status, said = await switchroom(rest, tmp_path, *words)
    assert status == 0, said
    assert await rest.scene.store.dial_policies.is_listed("acme", [CUSTOMER]) is True


async def test_a_list_is_imported(rest: Rest, tmp_path: Path) -> None:
    """One number per line, national or international; invalid lines are reported."""
    acme = await rest.services.accounts.get("acme")
    await rest.services.accounts.change(replace(acme, region="NO"))
    file = tmp_path / "numbers.txt"
    file.write_bytes(b"+4790000001\n\n90 00 00 02\nnobody\n\xff\xfe\n+4790000001\n")
    words = ("account", "dnc", "import", "acme", str(file), "--provider", "p")
    status, said = await switchroom(rest, tmp_path, *words)
    assert status == 1, said
    assert sorted(said.splitlines()) == [
        "3 numbers",
        "line 4: not a phone number",
        "line 5: not a phone number",
        "switchroom: lines left out: 2; import them again",
    ]
    await rest.services.policy_sync.sync_all()
    for number in ("+4790000001", "+4790000002"):
        assert await rest.scene.store.dial_policies.is_listed("acme", [number]), number


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig", "cp1252"])
async def test_a_list_of_an_editor_or_spreadsheet(
    rest: Rest, tmp_path: Path, encoding: str
) -> None:
    """In its encoding, with hard spaces, or with numbers as text formulas."""
    lines = ("+4790000001", "+47\xa090\xa000\xa000\xa002", '="+4790000003"', '"+4790000004"')
    file = tmp_path / "numbers.csv"
    file.write_bytes("\r\n".join(lines).encode(encoding))
    words = ("account", "dnc", "import", "acme", str(file), "--provider", "p")
    assert await switchroom(rest, tmp_path, *words) == (0, "4 numbers\n")


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
async def test_a_workbook(rest: Rest, tmp_path: Path, kind: str) -> None:
    """It has one column; what is no number is reported with its row."""
    file = tmp_path / f"numbers.{kind}"
    file.write_bytes(below_empty_rows(kind, ("Do not call",), ("+4790000001",), ("+47",)))
    words = ("account", "dnc", "import", "acme", str(file), "--provider", "p")
    status, said = await switchroom(rest, tmp_path, *words)
    assert (status, said.splitlines()[0]) == (1, "line 3: not a phone number")
    assert "line 5: too long or too short" in said
    assert "1 numbers" in said


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (sheet(("+4790000001", "Nina")), "line 1: 2 cells, but there are 1 columns"),
        (b"PK", "numbers: a broken zip file"),
        (b"<html>", "numbers: a web page or XML"),
    ],
)
async def test_another_file(rest: Rest, tmp_path: Path, content: bytes, why: str) -> None:
    """It says why it is not read."""
    file = tmp_path / "numbers"
    file.write_bytes(content)
    words = ("account", "dnc", "import", "acme", str(file), "--provider", "p")
    status, said = await switchroom(rest, tmp_path, *words)
    assert status, said
    assert why in said
