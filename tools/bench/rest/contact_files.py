"""Contact files with repeated names, duplicate numbers and accents."""

import csv
import random
from collections.abc import Iterator
from pathlib import Path

import xlsxwriter

HEADERS = ["Phone", "First name", "Last name", "Mail", "City"]
MAPPINGS = {
    "Phone": "phoneNumber",
    "First name": "fName",
    "Last name": "lName",
    "Mail": "email",
    "City": "city",
}
FIRST = ("Nina", "Ola", "Åse", "Kari", "José", "Zoë", "Per", "Anna", "Bjørn", "Maja")
CITIES = ("Oslo", "Bergen", "Tromsø", "Göteborg", "København")
TWICE = 10  # one row in ten repeats an earlier number


def rows(count: int, *, later: bool = False) -> Iterator[list[str]]:
    """Yield the same rows each time; with `later` all have moved and one in ten has a new name."""
    chance = random.Random(7)
    order = list(range(count))
    chance.shuffle(order)
    for index, own in enumerate(order):
        number = order[chance.randrange(index + 1)] if index % TWICE == 0 else own
        first = FIRST[number % len(FIRST)]
        mail = f"user{number}@example.com"
        phone = f"+479{number:07}"
        last = "Dahl" if later and number % 10 == 0 else "Berg"
        city = CITIES[(number + later) % 5]
        yield [phone, f"{first} {number % 977}", f"{last} {number % 7_919}", mail, city]


def write_csv(path: Path, count: int, *, later: bool = False) -> None:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADERS)
        out.writerows(rows(count, later=later))


def write_xlsx(path: Path, count: int) -> None:
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADERS)
        for line, row in enumerate(rows(count), 1):
            sheet.write_row(line, 0, row)
