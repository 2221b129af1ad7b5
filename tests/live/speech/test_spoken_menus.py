"""The how-to for spoken menus, on a real PBX: what it stores understands callers."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import Struct

from tests.harness.live_lab import Lab
from tests.harness.page_blocks import DOCS, page_blocks
from tests.harness.phones.heard_file import heard_ms
from tests.harness.servers.api import Api
from tests.harness.servers.speech_process import whisper_model
from tests.harness.tutorial import Reader

ACCOUNT, NUMBER = "menus", "+15550008"  # of no other test
PAGE = DOCS / "how-to/spoken-menus.md"
MIN_WORDS_MS = 1_000


class Follower(Struct):
    """A reader, and the blocks of the page."""

    reader: Reader
    folder: Path
    blocks: tuple[str, ...]

    async def run(self, what: str) -> str:
        """Run the one block that contains a text, and return what it prints."""
        (block,) = (each for each in self.blocks if what in each)
        return await self.reader.run(block)

    async def timeline(self) -> str:
        """Return the timeline of the last call, as the page shows it, without its lines."""
        shown = await self.run("call timeline")
        return " ".join(re.sub(r"[│├┤┘┐─▶◀╫╬╪●║╠╣╦╩┼]", " ", shown).split())


@pytest.fixture
async def follower(lab: Lab, tmp_path: Path) -> AsyncIterator[Follower]:
    """Give the reader of the page a number and the commands of an installation."""
    engine = lab.engine
    async with Api(tmp_path / "api", engines=[engine], account=ACCOUNT, number=NUMBER) as api:
        settings = {
            "SWITCHROOM_API_URL": api.url,
            "SWITCHROOM_API_KEY": api.api_key,
            "SWITCHROOM_NODES": f'[{{"name": "pbx1", "sip_port": {lab.pbx.sip_port}}}]',
            "SWITCHROOM_RPC_PORT": str(engine.port),
            "SWITCHROOM_RPC_TOKEN": engine.token,
        }
        reader = Reader(tmp_path, {"+4721930000": NUMBER}, settings)
        blocks = tuple(each.text for each in page_blocks(PAGE, "sh"))
        found = Follower(reader, tmp_path, blocks)
        await found.run("flow put spoken-menu")
        yield found


async def test_a_caller_says_or_presses_it(follower: Follower) -> None:
    """Word and key lead to the same node; a name is said as it sounds; the caller hears it."""
    await follower.run('--say "Support, please."')
    shown = await follower.timeline()
    assert "understood “support”" in shown
    assert "the caller speaks: the prompt ends" in shown
    assert "node support: set agent" in shown
    assert heard_ms(follower.folder / "heard.wav") >= MIN_WORDS_MS
    await follower.run("--digits 2")
    assert "node support: set agent" in await follower.timeline()
    name = f'switchroom dev call {NUMBER} --say "Shell till, please." --after-s 1'
    await follower.reader.run(name)
    assert "node kjetil: set agent" in await follower.timeline()


async def test_who_is_not_understood_gets_a_person(follower: Follower) -> None:
    """After the question was asked three times."""
    await follower.run("Elephants are grey")
    shown = await follower.timeline()
    assert shown.count("node sorry: say") == 2
    assert "node person: set agent" in shown


async def test_whole_sentences(follower: Follower) -> None:
    """Whisper writes them down, and the flow finds a word; the model is found as on the page."""
    (follower.folder / ".env").write_text(f"SWITCHROOM_DEV_DIR={follower.folder}\n")
    await follower.run("models.__path__")
    model = (follower.folder / "settings.env").read_text().strip()
    assert model == f"SWITCHROOM_SPEECH_WHISPER_MODEL='{whisper_model()}'"
    await follower.run("flow put question")
    shown = await follower.timeline()
    assert "understood “I have a question about my last bill" in shown
    assert "node billing: say" in shown
