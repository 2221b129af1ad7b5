"""Every file, test, module, link and `make` target that the docs name exists."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.harness.each import for_each

ROOT = Path(__file__).parents[3]
TOPS = (
    "api", "asterisk-config", "base", "cli", "dev", "docs", "engine", "speech", "streams",
    "switchroom", "tests", "tools", "wire",
)  # fmt: skip
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
SUFFIXES = r"(?:py|pyi|md|lua|json|yaml|yml|conf|toml|proto|txt|service|sh|html)"
CODE = re.compile(r"`([^`\n]+)`")
FILE = re.compile(rf"(?<![\w./*<>@:$-])((?:[\w.-]+/)*[\w-][\w.-]*\.{SUFFIXES})(?![\w<>*-])")
FOLDER = re.compile(rf"(?<![\w./-])((?:{'|'.join(TOPS)})/[\w./-]*\w)(?![\w*<])")
TEST = re.compile(r"\btest_\w+\b(?![./\w])")
MODULE = re.compile(r"python3? -m ((?:tests|tools|engine|api)[\w.]*)")
TARGET = re.compile(r"\bmake ([a-z][a-z-]*)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
PAGE_IN_SOURCE = re.compile(r"\bdocs/[\w/-]+\.md\b")
DECISION_IN_SOURCE = re.compile(r"\bdecision (\d{4})\b")
FOREIGN_CITATION = re.compile(r"\b[Dd]esign (?:section|fact)s?\b|\(spec(?:, [\"A-Z]|:)[^)]*")
# The reader's file, and results of benchmarks.
NOT_OURS = {"numbers.txt", "bench-out/bench.json", "bench-out/chaos.json"}


@cache
def _files() -> frozenset[str]:
    """Return all paths of the project, each of their ends at a `/`, and what is not ours."""
    paths = [path for top in TOPS for path in (ROOT / top).rglob("*")]
    names = [str(path.relative_to(ROOT)) for path in [*paths, *ROOT.iterdir()]]
    ends = {name.split("/", start)[-1] for name in names for start in range(name.count("/") + 1)}
    return frozenset(ends | NOT_OURS)


@cache
def _tests() -> frozenset[str]:
    sources = (path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    return frozenset(name for source in sources for name in re.findall(r"def (test_\w+)", source))


def _in_code(page: Path) -> Iterator[str]:
    """Yield the code spans of a page; examples in fences are the reader's."""
    yield from CODE.findall(FENCE.sub("", page.read_text()))


def _anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub forms them."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {
        re.sub(r"[^\w -]", "", re.sub(r"[`*]", "", each).lower()).replace(" ", "-")
        for each in headings
    }


def _named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@for_each(PAGES, _named)
def test_files_and_tests_exist(page: Path) -> None:
    """A path in code font is a path of the project or the end of one; a test's name is a test."""
    missing = set()
    for code in _in_code(page):
        missing |= {each for each in FILE.findall(code) if each not in _files()}
        missing |= {each for each in FOLDER.findall(code) if each not in _files()}
        missing |= {
            each
            for each in TEST.findall(code)
            if each not in _tests() and f"{each}.py" not in _files()
        }
    assert missing == set()


@for_each(PAGES, _named)
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link has a file, and its anchor is a heading there."""
    broken = []
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        target, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        path = (page.parent / target) if target else page
        is_found = path.exists() and (not anchor or anchor in _anchors(path))
        if not is_found:
            broken.append(link)
    assert broken == []


@for_each(PAGES, _named)
def test_commands_exist(page: Path) -> None:
    """A `make` target is in the Makefile, and a module after `python -m` can be run."""
    text = page.read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {each for code in [*FENCE.findall(text), *_in_code(page)]
             for each in TARGET.findall(code)}  # fmt: skip
    assert named <= targets
    for module in MODULE.findall(text):
        path = ROOT / module.rstrip(".").replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


def test_pages_that_sources_name_exist() -> None:
    """A page or decision that a comment or docstring names is in docs."""
    decisions = {path.name[:4] for path in (ROOT / "docs/decisions").glob("0*.md")}
    missing = set()
    for top in TOPS:
        for path in (ROOT / top).rglob("*.py"):
            text = path.read_text()
            pages = PAGE_IN_SOURCE.findall(text)
            missing |= {each for each in pages if not (ROOT / each).exists()}
            missing |= {each for each in DECISION_IN_SOURCE.findall(text) if each not in decisions}
    assert missing == set()


def test_only_documents_of_the_repository_are_cited() -> None:
    """No source or page cites a section of a document that the reader does not have."""
    sources = [path for top in TOPS for path in (ROOT / top).rglob("*.py")]
    citing = {
        str(path.relative_to(ROOT))
        for path in {*sources, *PAGES} - {Path(__file__)}
        if FOREIGN_CITATION.search(path.read_text())
    }
    assert citing == set()


def test_the_index_of_decisions_is_complete() -> None:
    """The index links to each record once, with its title."""
    folder = ROOT / "docs/decisions"
    records = sorted(folder.glob("0*.md"))
    titles = {path.name: path.read_text().partition("\n")[0] for path in records}
    index = re.findall(
        r"^\| \[(\d+)\]\(([^)]+)\) \| (.+) \|$", (folder / "README.md").read_text(), re.MULTILINE
    )
    assert {name: f"# {number}: {title}" for number, name, title in index} == titles
    assert len(index) == len(records)
