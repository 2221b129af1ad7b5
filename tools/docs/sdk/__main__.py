"""`make docs`: write the generated parts of the SDKs."""

import subprocess
import sys
from functools import partial
from pathlib import Path

from tools.docs.reference.markdown import with_blocks
from tools.docs.sdk import typescript_rest, typescript_verbs
from tools.docs.sdk.python_builders import builders_table
from tools.docs.sdk.python_rest import models_source, resources_source
from tools.docs.sdk.python_verbs import verbs_source
from tools.docs.sdk.python_webhooks import webhooks_source
from tools.docs.sdk.rest_operations import rest_api

ROOT = Path(__file__).parents[3]
TYPESCRIPT = ROOT / "sdk/typescript/src/generated"
PAGE = ROOT / "docs/sdk/python.md"
PYTHON = ROOT / "sdk/python/switchroom_sdk/generated"


def sources() -> dict[Path, str]:
    """Return the generated files with their contents."""
    api = rest_api()
    verbs = verbs_source()
    return {
        PAGE: with_blocks(PAGE.read_text(), {"builders": partial(builders_table, verbs)}),
        PYTHON / "models.py": formatted(models_source(api)),
        PYTHON / "resources.py": formatted(resources_source(api, is_async=False)),
        PYTHON / "async_resources.py": formatted(resources_source(api, is_async=True)),
        PYTHON / "verbs.py": formatted(verbs),
        PYTHON / "webhooks.py": formatted(webhooks_source()),
        TYPESCRIPT / "models.ts": typescript_rest.models_source(api),
        TYPESCRIPT / "resources.ts": typescript_rest.resources_source(api),
        TYPESCRIPT / "types.ts": typescript_verbs.types_source(),
        TYPESCRIPT / "verbs.ts": typescript_verbs.verbs_source(),
    }


def formatted(source: str) -> str:
    """Return Python source as the formatter writes it."""
    ruff = Path(sys.executable).with_name("ruff")
    argv = [str(ruff), "format", "--stdin-filename", "generated.py", "-"]
    return subprocess.run(argv, input=source, capture_output=True, text=True, check=True).stdout


def main() -> None:
    for path, text in sources().items():
        path.write_text(text)


if __name__ == "__main__":
    main()
