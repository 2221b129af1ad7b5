"""The code of docs/sdk runs as it is printed, with a real REST layer and engine."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from engine.webhooks.signatures import Signer
from tests.contract.sdk.conftest import Server
from tests.harness import npm
from tests.harness.signing import SIGNING_SECRET

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs/sdk"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TSCONFIG = {
    "compilerOptions": {
        "target": "es2022",
        "lib": ["es2023", "dom", "dom.iterable"],
        "module": "nodenext",
        "outDir": "dist",
        "strict": True,
        "skipLibCheck": True,
        "types": ["node"],
    },
    "include": ["*.ts"],
}


def blocks(page: str, language: str) -> Iterator[str]:
    """Yield the blocks of a page in one language."""
    for found, text in _BLOCK.findall((DOCS / page).read_text()):
        if found == language:
            yield text


def run(argv: tuple[str, ...], folder: Path, env: Mapping[str, str]) -> str:
    """Run a program that must succeed; return its output."""
    done = subprocess.run(
        argv, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
async def env(server: Server) -> dict[str, str]:
    """Return the variables of the pages."""
    return {
        "SWITCHROOM_API_URL": server.url,
        "SWITCHROOM_API_KEY": server.key,
        "SWITCHROOM_WEBHOOK_SECRET": SIGNING_SECRET,
        "SWITCHROOM_PUBLIC_URL": "https://example.com",
        "PYTHONPATH": str(ROOT / "sdk/python"),
    }


async def test_the_python_page_runs(env: Mapping[str, str], tmp_path: Path) -> None:
    """Each block runs; what it rejects is printed with its code and field."""
    printed = []
    for index, text in enumerate(blocks("python.md", "python")):
        script = tmp_path / f"block{index}.py"
        script.write_text(text)
        argv = (sys.executable, "-W", "error", str(script))
        printed.append(await asyncio.to_thread(run, argv, tmp_path, env))
    assert len(printed) >= 5
    assert '"action":"https://example.com/menu"' in printed[1]
    assert printed[-1].split()[-3:] == ["400", "invalid", "to"]


async def test_the_first_call_takes_five_lines() -> None:
    """From the import to the printed id of the call."""
    for page, language in (("python.md", "python"), ("typescript.md", "ts")):
        first = next(blocks(page, language))
        assert len([line for line in first.splitlines() if line.strip()]) <= 5


async def test_the_typescript_page_runs(env: Mapping[str, str], tmp_path: Path) -> None:
    """Each block is compiled under strict rules, and runs."""
    if reason := await asyncio.to_thread(npm.install_sdk):
        pytest.skip(reason)
    modules = tmp_path / "node_modules"
    modules.mkdir()
    for path in (npm.SDK / "node_modules").iterdir():
        (modules / path.name).symlink_to(path)
    (modules / "switchroom-sdk").symlink_to(npm.SDK)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(json.dumps(TSCONFIG))
    texts = list(blocks("typescript.md", "ts"))
    for index, text in enumerate(texts):
        (tmp_path / f"block{index}.ts").write_text(text)
    tsc = str(npm.SDK / "node_modules/.bin/tsc")
    await asyncio.to_thread(run, (tsc, "--build", str(npm.SDK)), tmp_path, env)
    await asyncio.to_thread(run, (tsc, "-p", "."), tmp_path, env)
    printed = [
        await asyncio.to_thread(run, ("node", f"dist/block{index}.js"), tmp_path, env)
        for index in range(len(texts))
    ]
    assert len(printed) >= 5
    assert '"action":"https://example.com/menu"' in printed[1]
    assert printed[-1].split()[-3:] == ["400", "invalid", "to"]


async def test_the_program_without_an_sdk_verifies(tmp_path: Path) -> None:
    """That of the page of callbacks: a request to its own address, and to no other."""
    url, body = "https://example.com/menu?attempt=1", '{"callId":"c1"}'
    headers = Signer(SIGNING_SECRET).headers("c1.r0", time.time(), body.encode(), url)
    (program,) = blocks("../callbacks.md", "js")
    (tmp_path / "verify.mjs").write_text(program)
    given = ", ".join(json.dumps(each) for each in (SIGNING_SECRET, url, headers))
    (tmp_path / "run.mjs").write_text(f"""
        import {{ verified }} from "./verify.mjs";
        const [secret, url, headers] = [{given}], body = Buffer.from({json.dumps(body)});
        console.log(verified(secret, url, headers, body).callId);
        console.log(verified(secret, url + "2", headers, body));
    """)
    printed = await asyncio.to_thread(run, ("node", "run.mjs"), tmp_path, {})
    assert printed.split() == ["c1", "null"]


@pytest.mark.parametrize("page", ["python.md", "typescript.md"])
def test_the_commands_of_a_page_create_applications(page: str, tmp_path: Path) -> None:
    """`switchroom new` of the page works as it is printed."""
    lines = [line for text in blocks(page, "sh") for line in text.splitlines()]
    commands = [line.partition("#")[0] for line in lines if line.startswith("switchroom new")]
    assert commands
    for line in commands:
        _, *words = shlex.split(line)
        run((sys.executable, "-m", "switchroom", *words), tmp_path, {"PYTHONPATH": str(ROOT)})
        assert (tmp_path / words[1] / "README.md").exists()
