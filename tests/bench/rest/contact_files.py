"""Files of contacts as people have them: names that repeat, some numbers twice, accents."""

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
TWICE = 10  # one in so many has a number that was there before


def rows(count: int, *, later: bool = False) -> Iterator[list[str]]:
    """Give rows, the same at each time; later all have moved, one in ten has another name."""
    chance = random.Random(7)
    order = list(range(count))
    chance.shuffle(order)
    for place, own in enumerate(order):
        number = order[chance.randrange(place + 1)] if place % TWICE == 0 else own
        first = FIRST[number % len(FIRST)]
        mail = f"user{number}@example.com"
        phone = f"+479{number:07}"
        last = "Dahl" if later and number % 10 == 0 else "Berg"
        city = CITIES[(number + later) % 5]
        yield [phone, f"{first} {number % 977}", f"{last} {number % 7_919}", mail, city]


def write_csv(path: Path, count: int, *, later: bool = False) -> None:
    """Write a CSV file."""
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADERS)
        out.writerows(rows(count, later=later))


def write_xlsx(path: Path, count: int) -> None:
    """Write a spreadsheet."""
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, HEADERS)
        for line, row in enumerate(rows(count), 1):
            sheet.write_row(line, 0, row)
