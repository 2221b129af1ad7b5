"""TypeScript types of the OpenAPI documents, as openapi-typescript writes them."""

import asyncio
import shutil
from pathlib import Path

import pytest

from tests.contract.openapi.node_tools import FOLDER, run

PROGRAMS = ("use_rest.ts", "use_rpc.ts", "tsconfig.json")


@pytest.mark.usefixtures("packages")
async def test_generated_types_are_strict(documents: dict[str, Path], tmp_path: Path) -> None:
    """`tsc` accepts the types and two programs that use them, under `strict` and more."""
    for name in PROGRAMS:
        shutil.copy(FOLDER / name, tmp_path)
    for name, document in documents.items():
        # Without the option, fields with a default would be required of requests.
        written = await asyncio.to_thread(
            run,
            "openapi-typescript",
            str(document),
            *("-o", str(tmp_path / f"{name}.ts"), "--default-non-nullable=false"),
        )
        assert written.returncode == 0, written.stderr
    done = await asyncio.to_thread(run, "tsc", "-p", str(tmp_path))
    assert done.returncode == 0, done.stdout
