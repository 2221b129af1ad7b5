"""Counts what a reader has to hold in mind: files, lines, imports, words of docs.

`python -m tools.counts` prints one line per figure; compare two commits by running it at both. What
is generated or vendored does not count, nor do tests and tools.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "api",
    "asterisk-config",
    "dev",
    "engine",
    "base",
    "cli",
    "sdk",
    "speech",
    "streams",
    "switchroom",
    "wire",
)  # fmt: skip
LANGUAGES = (".py", ".js", ".ts", ".lua")
NOT_BY_HAND = re.compile(r"/(generated|vendored|node_modules|dist)/|_pb2\.py")
GENERATED_PAGE = "<!-- `make docs` writes this page"
GENERATED_BLOCK = re.compile(r"(?s)<!-- (?:drawn|generated|listed): .*?<!-- end -->")
GENERATED_DOCS = re.compile(r"^docs/(openapi|schemas|pictures)/")
SMALL, LARGE = 60, 500  # lines: a file has more than the one and at most the other


def tracked() -> list[str]:
    """Return the paths of all files in git."""
    run = subprocess.run(("git", "ls-files", "-z"), cwd=ROOT, capture_output=True, check=True)
    return [each for each in run.stdout.decode().split("\0") if (ROOT / each).is_file()]


def product(paths: Iterable[str]) -> list[str]:
    """Return those that a person has written, of the programs and the SDKs."""
    return [
        each
        for each in paths
        if each.split("/")[0] in PACKAGES
        and each.endswith(LANGUAGES)
        and not NOT_BY_HAND.search(f"/{each}")
    ]


def module_of(path: str) -> str:
    """Return the name under which a file is imported."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(tree: ast.Module, modules: frozenset[str]) -> Iterator[str]:
    """Yield the modules of the product that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield inner if inner in modules else node.module


def import_lines(tree: ast.Module) -> int:
    """Count the lines of import statements."""
    found = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
    return sum((each.end_lineno or each.lineno) - each.lineno + 1 for each in found)


def hand_written_words(paths: Iterable[str]) -> int:
    """Count the words of pages, without generated pages and blocks."""
    texts = (
        (ROOT / each).read_text()
        for each in paths
        if each.startswith("docs/") and each.endswith(".md") and not GENERATED_DOCS.match(each)
    )
    written = (GENERATED_BLOCK.sub("", text) for text in texts if GENERATED_PAGE not in text)
    return sum(len(text.split()) for text in written)


def figures() -> Iterator[tuple[str, str]]:
    """Yield each figure with its name."""
    paths = tracked()
    files = product(paths)
    lines = {each: len((ROOT / each).read_text().splitlines()) for each in files}
    trees = {each: ast.parse((ROOT / each).read_text()) for each in files if each.endswith(".py")}
    modules = frozenset(map(module_of, trees))
    importers = Counter(
        used for tree in trees.values() for used in set(imports(tree, modules)) if used in modules
    )
    single = sum(importers[each] == 1 for each in modules)
    python = sum(lines[each] for each in trees)
    imported = sum(map(import_lines, trees.values()))
    whole = [each for each in files if not each.endswith("__init__.py")]
    small = sum(lines[each] < SMALL for each in whole)
    yield "files of the product", f"{len(whole):,}"
    yield "lines of the product", f"{sum(lines.values()):,}"
    for language in LANGUAGES:
        yield (
            f"  {language}",
            f"{sum(n for each, n in lines.items() if each.endswith(language)):,}",
        )
    yield f"files of fewer than {SMALL} lines", f"{small:,} ({small / len(whole):.1%})"
    yield f"files of more than {LARGE} lines", f"{sum(n > LARGE for n in lines.values()):,}"
    yield "modules with one importer", f"{single:,} ({single / len(modules):.1%})"
    yield "lines of imports", f"{imported:,} ({imported / python:.1%} of Python)"
    tests = sum(
        len((ROOT / each).read_text().splitlines())
        for each in paths
        if each.startswith("tests/") and each.endswith(".py")
    )
    yield "lines of tests", f"{tests:,}"
    yield "words of docs by hand", f"{hand_written_words(paths):,}"
    yield "files in git", f"{len(paths):,}"
    yield "bytes in git", f"{sum((ROOT / each).stat().st_size for each in paths):,}"


def main() -> None:
    """Print all figures."""
    for name, figure in figures():
        sys.stdout.write(f"{name:34}{figure}\n")


if __name__ == "__main__":
    main()
