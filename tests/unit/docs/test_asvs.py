"""The table of OWASP ASVS in the security guide names items of level 2."""

import re
from collections.abc import Iterator
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs/operations/security.md"
# Items of level 2 in each section of ASVS 4.0.3, from its CSV.
LEVEL_2 = {
    "1.1": "1-7", "1.2": "1-4", "1.4": "1 4-5", "1.5": "1-4", "1.6": "1-4", "1.7": "1-2",
    "1.8": "1-2", "1.9": "1-2", "1.10": "1", "1.11": "1-2", "1.12": "2", "1.14": "1-6",
    "2.1": "1-12", "2.2": "1-3", "2.3": "1-3", "2.4": "1-5", "2.5": "1-7", "2.6": "1-3",
    "2.7": "1-6", "2.8": "1-7", "2.9": "1-3", "2.10": "1-4",
    "3.1": "1", "3.2": "1-4", "3.3": "1-4", "3.4": "1-5", "3.5": "1-3", "3.7": "1",
    "4.1": "1-3 5", "4.2": "1-2", "4.3": "1-3",
    "5.1": "1-5", "5.2": "1-8", "5.3": "1-10", "5.4": "1-3", "5.5": "1-4",
    "6.1": "1-3", "6.2": "1-6", "6.3": "1-2", "6.4": "1-2",
    "7.1": "1-4", "7.2": "1-2", "7.3": "1 3-4", "7.4": "1-3",
    "8.1": "1-4", "8.2": "1-3", "8.3": "1-8",
    "9.1": "1-3", "9.2": "1-4",
    "10.2": "1-2", "10.3": "1-3", "11.1": "1-8",
    "12.1": "1-3", "12.2": "1", "12.3": "1-6", "12.4": "1-2", "12.5": "1-2", "12.6": "1",
    "13.1": "1 3-5", "13.2": "1-3 5-6", "13.3": "1-2", "13.4": "1-2",
    "14.1": "1-4", "14.2": "1-6", "14.3": "2-3", "14.4": "1-7", "14.5": "1-4",
}  # fmt: skip
ITEMS = 259
DASH = "\N{EN DASH}"
_ID = r"\d+\.\d+(?:\.\d+)?"
_IDS = re.compile(rf"{_ID}(?:{DASH}{_ID})?(?:, {_ID}(?:{DASH}{_ID})?)*")
Item = tuple[int, ...]


def items() -> Iterator[Item]:
    """Yield the items of level 2."""
    for section, numbers in LEVEL_2.items():
        for each in numbers.split():
            first, _, last = each.partition("-")
            for number in range(int(first), int(last or first) + 1):
                yield (*map(int, section.split(".")), number)


def ranges() -> Iterator[tuple[Item, Item]]:
    """Yield the first and the last item or section of each range in the table."""
    table = GUIDE.read_text().partition("## OWASP ASVS")[2]
    for row in table.splitlines():
        if found := _IDS.match(row.removeprefix("| ")):
            for each in found[0].split(", "):
                first, _, last = each.partition(DASH)
                yield _item(first), _item(last or first)


def _item(text: str) -> Item:
    return tuple(map(int, text.split(".")))


def _covers(first: Item, last: Item, item: Item) -> bool:
    return first <= item[: len(first)] and item[: len(last)] <= last


def test_every_row_answers_something() -> None:
    """No row names items that there are not."""
    known = list(items())
    rows = list(ranges())
    unknown = [each for each in rows if not any(_covers(*each, item) for item in known)]
    assert len(known) == ITEMS
    assert rows
    assert unknown == []
