"""Files of contacts of every common kind, opened in this process instead of a reader's."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from api.contacts.imports.reader.messages import (
    MAX_COLUMNS,
    MAX_SAMPLE_CHARS,
    MAX_SAMPLE_ROWS,
    FileHints,
    FileRow,
    FileSummary,
    UnreadableFile,
)
from api.contacts.imports.reader.open import inspect_file, open_rows
from api.contacts.imports.reader.sheets import BROKEN, MAX_MEMBERS, NO_SHEET
from tests.harness.api.contacts.sheets import BIRTH, a_sheet, below_empty_rows, sheet, zipped

NAMES = {
    "utf-8": ("Åse", "José", "李雷", "Дмитрий"),
    "utf-8-sig": ("Åse", "José"),
    "utf-16": ("Åse", "Дмитрий"),
    "utf-16-le": ("Nina", "José"),
    "utf-16-be": ("Nina", "José"),
    "utf-32": ("Åse", "Дмитрий"),
    "cp1252": ("Åse", "José", "Zoë", "Jürgen", "O\u2019Brien", "François", "Bjørn"),
    "iso-8859-1": ("Åse", "Jürgen", "Bjørn"),
    "cp1250": ("Łukasz", "Małgorzata", "Grażyna", "Świętosława", "Jerzy Wójcik"),
    "iso-8859-2": ("Jiří", "Dvořák", "Růžena", "Šťastný", "Žižka"),
    "cp1251": ("Дмитрий", "Екатерина", "Александр", "Наталья", "Владимир", "Светлана"),
    "shift_jis": ("田中さくら", "鈴木一郎", "高橋ひろし", "伊藤みどり", "東京都新宿区西新宿二丁目"),
    "gb18030": ("王小明", "李雷和韩梅梅", "张伟你好", "刘洋中国", "陈静北京上海"),
}
BAD = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n\n \n", "the file is empty"),
    "a header": (b"Phone,Name\n", "a header, and no row below it"),
    "the same name twice": (b"Phone,Name,Phone\n1,2,3\n", "two columns are called 'Phone'"),
    "many columns": (b",".join([b"c"] * 501) + b"\n1\n", "501 columns; at most 500 are taken"),
    "a long name": (b"P" * 129 + b"\n1\n", "the name of column 1 is longer than 128 letters"),
    "a long header": (b"P" * 65_537 + b"\n1\n", "the header is longer than 65536 letters"),
    "broken quoting": (b'"Phone,Name\n1,2\n', "the header is broken quoting"),
    "an unprintable name": (
        b"A,B\x01C" + b"C" * 200 + b"\n1\n",
        "the name of column 2 can't be read",
    ),
    "a program": (b"MZ\x90\0\3\0\0\0\4\0\0\0\xff\xff\0\0" * 100, "neither text nor a spreadsheet"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(1_000), "neither text nor a spread"),
    "a page": (b"\xef\xbb\xbf\n<HTML><table><tr><td>Phone</td></tr></table>", "a web page or XML"),
    "a page in UTF-16": ("<html><table>".encode("utf-16"), "a web page or XML"),
    "a table of a page": (b"<table border=1>\n<tr><td>1</td><td>2</td></tr>", "a web page or XML"),
    "an XML spreadsheet": (
        b'<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook/>\n',
        "a web page or XML",
    ),
    "a saved page": (b"MIME-Version: 1.0\nX-Document-Type: Workbook\n\n", "a web page or XML"),
    "half a zip file": (sheet(("Phone",), ("+4790000001",))[:3_000], BROKEN),
    "a zip file": (zipped(a=b"Phone\n+4790000001\n"), NO_SHEET),
    "another document": (
        zipped(mimetype=b"application/epub+zip", **{"content.xml": b""}),
        NO_SHEET,
    ),
    "a document without its kind": (zipped(**{"content.xml": b""}), NO_SHEET),
    "a hollow spreadsheet": (zipped(**{"xl/workbook.xml": b"<workbook/>"}), "a broken spreadsheet"),
    "an old one": (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(5_000), "a broken spreadsheet"),
    "an empty spreadsheet": (sheet(), "the file is empty"),
    "a spreadsheet's header": (sheet(("Phone", "Name")), "a header, and no row below it"),
}


def written(folder: Path, content: bytes) -> str:
    """Return the path of a file."""
    path = folder / "contacts"
    path.write_bytes(content)
    return str(path)


def summary_of(folder: Path, content: bytes, **hints: Any) -> FileSummary:
    """Inspect a file."""
    return inspect_file(FileHints(written(folder, content), **hints))


def rows_of(folder: Path, content: bytes) -> list[FileRow]:
    """Return a file's rows below the header, after a look at its format."""
    found = summary_of(folder, content)
    with open_rows(written(folder, content), found.format) as (rows, max_rows):
        next(rows)
        below = list(rows)
    assert len(below) <= max_rows == found.rows
    return below


def table(*names: str, delimiter: str = ",") -> str:
    """Return a table of contacts with these names."""
    rows = [f"+47900000{n:02}{delimiter}{name}" for n, name in enumerate(names)]
    return "\n".join([f"Phone{delimiter}Name", *rows, ""])


@pytest.mark.parametrize("encoding", NAMES)
def test_an_encoding_is_detected(tmp_path: Path, encoding: str) -> None:
    """All common ones, with and without a byte order mark."""
    found = summary_of(tmp_path, table(*NAMES[encoding]).encode(encoding))
    assert [name for _, name in found.sample] == [*NAMES[encoding]]
    assert found.headers == ["Phone", "Name"]
    assert found.rows - len(NAMES[encoding]) in {0, 1}  # an upper bound


def test_the_region_tells_encodings_apart(tmp_path: Path) -> None:
    """In a file of few words; what is read is shown before it is imported."""
    content = table("Erdős").encode("cp1250")
    assert summary_of(tmp_path, content, region="HU").sample[0][1] == "Erdős"
    assert summary_of(tmp_path, content, region="EE").sample[0][1] == "Erdõs"


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("koi8-r", "Иван"), ("cp866", "Иван"), ("cp1256", "محمد"), ("euc_jp", "山田太郎")],
)
def test_a_guess_leaves_the_other_columns(tmp_path: Path, encoding: str, name: str) -> None:
    """A word may be read wrongly, but what has the bytes of ASCII is not UTF-16."""
    found = summary_of(tmp_path, f"Phone;Name\n22222222;{name}\n22222223;Ola\n".encode(encoding))
    assert found.headers == ["Phone", "Name"]
    assert [phone for phone, _ in found.sample] == ["22222222", "22222223"]


def test_an_encoding_can_be_given(tmp_path: Path) -> None:
    """For files with too little text."""
    content = table("Łukasz").encode("cp1250")
    assert summary_of(tmp_path, content, encoding="windows-1250").sample[0][1] == "Łukasz"
    for bad in ("klingon", "base64", "idna", "Punycode"):
        with pytest.raises(UnreadableFile, match=f"no text encoding is called '{bad}'"):
            summary_of(tmp_path, content, encoding=bad)
    with pytest.raises(UnreadableFile, match="no byte order mark"):
        summary_of(tmp_path, content, encoding="utf-16")


def test_corrupt_lines_are_few(tmp_path: Path) -> None:
    """A file is UTF-8 if half of its lines with other letters are; else it is not."""
    good, bad = table("Åse", "José").encode(), b"+4790000009,Bj\xf8rn\n+4790000010,\xc5se\n"
    names = [name for _, name in summary_of(tmp_path, good + bad).sample]
    assert names == ["Åse", "José", "Bj\ufffdrn", "\ufffdse"]
    (first, *_) = summary_of(tmp_path, good + bad + b"+4790000011,Zo\xeb\n").sample
    assert first[1] == "Ã…se"


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_a_delimiter_is_detected(tmp_path: Path, delimiter: str) -> None:
    """Also if cells contain another one, in a line of its own, and with lines of Windows."""
    content = table('"Berg, Nina; or not"', "Ola", delimiter=delimiter)
    for text in (content, content.replace("\n", "\r\n"), f"sep={delimiter}\n{content}"):
        found = summary_of(tmp_path, text.encode())
        assert [name for _, name in found.sample] == ["Berg, Nina; or not", "Ola"]
        assert found.format.delimiter == delimiter


def test_a_delimiter_can_be_given(tmp_path: Path) -> None:
    """One of four."""
    content = table("a;b;c").encode()
    assert summary_of(tmp_path, content, delimiter=";").headers == ["Phone,Name"]
    with pytest.raises(UnreadableFile, match="separated by '/': a comma, a semicolon, a tab or"):
        summary_of(tmp_path, content, delimiter="/")


def test_columns_without_a_name(tmp_path: Path) -> None:
    """They are numbered, but not the last ones; blanks in a name are one."""
    found = summary_of(tmp_path, b"Phone,, My \t name ,,\n1,2,3,,\n")
    assert found.headers == ["Phone", "Column 2", "My name"]
    assert found.sample == [["1", "2", "3"]]


def test_a_sample_is_short(tmp_path: Path) -> None:
    """Ten rows, and cells of 256 letters without zeros."""
    rows = [f"{n},{'x' * 300}" for n in range(12)]
    found = summary_of(tmp_path, "\n".join(["A,B", "1,a\0b", *rows]).encode())
    assert (len(found.sample), found.rows) == (10, 13)
    assert (found.sample[0], found.sample[1]) == (["1", "a\ufffdb"], ["0", "x" * 256])


@pytest.mark.parametrize("kind", ["xlsx", "xls", "ods"])
def test_a_spreadsheet_is_read(tmp_path: Path, kind: str) -> None:
    """Its first visible sheet: numbers, dates and lines; blank ones are left out."""
    found = summary_of(tmp_path, a_sheet(kind))
    assert (found.format.kind, found.format.encoding, found.format.delimiter) == (kind, None, None)
    assert found.headers == ["Phone", "Name", "Born"]
    rows = [(row.line, [*filter(None, row.cells)]) for row in rows_of(tmp_path, a_sheet(kind))]
    born = ["+4790000001", "Åse", BIRTH.isoformat()]
    assert rows == [(2, born), (4, ["4790000002", "Ola"]), (5, ["nobody"])]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_header_below_a_title(tmp_path: Path, kind: str) -> None:
    """The customer says which row it is; the rows above it are left out."""
    rows = [("Our customers",), ("", ""), ("Phone", "Name"), ("+4790000001", "Nina")]
    content = "\n".join(map(";".join, rows)).encode() + b"\n" if kind == "csv" else sheet(*rows)
    first = summary_of(tmp_path, content)
    assert first.headers[0] == "Our customers"
    assert first.format.header_row == 1
    found = summary_of(tmp_path, content, header_row=3)
    assert (found.headers, found.format.header_row) == (["Phone", "Name"], 3)
    assert found.sample == [["+4790000001", "Nina"]]
    with open_rows(str(tmp_path / "contacts"), found.format) as (left, _):
        assert [row.line for row in left] == [3, 4]
    later = summary_of(tmp_path, content, header_row=2)  # it is empty
    assert (later.headers, later.format.header_row) == (["Phone", "Name"], 3)
    with pytest.raises(UnreadableFile, match="empty below row 5"):
        summary_of(tmp_path, content, header_row=5)


@pytest.mark.parametrize("kind", ["xlsx", "ods"])
def test_rows_below_empty_ones(tmp_path: Path, kind: str) -> None:
    """They have the numbers that a person sees."""
    rows = (("Our customers",), ("Phone", "Name"), ("+4790000001", "Nina"), ("a text",))
    content = below_empty_rows(kind, *rows)
    assert summary_of(tmp_path, content).format.header_row == 3
    found = summary_of(tmp_path, content, header_row=4)
    assert (found.headers, found.format.header_row) == (["Phone", "Name"], 4)
    with open_rows(str(tmp_path / "contacts"), found.format) as (left, _):
        assert [(row.line, row.cells[0]) for row in left][1:] == [(5, "+4790000001"), (6, "a text")]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_last_columns_without_a_name(tmp_path: Path, kind: str) -> None:
    """They are columns if a row has something there; others are none."""
    rows = [("Phone", "Name", "", "", ""), ("+4790000001", "Nina", "", "vip", "")]
    content = "\n".join(map(";".join, rows)).encode() + b"\n" if kind == "csv" else sheet(*rows)
    assert summary_of(tmp_path, content).headers == ["Phone", "Name", "Column 3", "Column 4"]


def test_cells_are_texts(tmp_path: Path) -> None:
    """As a person would type them."""
    content = sheet(("A", "B", "C"), (True, 1.5, -4.0), ("x" * 32_000, "y" * 32_000, "z" * 1_537))
    good, long = rows_of(tmp_path, content)
    assert (good.line, good.cells) == (2, ["true", "1.5", "-4"])
    assert long == FileRow(3, ["x" * 80], "longer than 65536 letters")


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_has_a_reason(tmp_path: Path, name: str) -> None:
    """It says what is wrong, and what would be right."""
    content, why = BAD[name]
    with pytest.raises(UnreadableFile) as caught:
        summary_of(tmp_path, content)
    assert str(caught.value).startswith(why)


def test_a_zip_file_has_a_limit_of_members(tmp_path: Path) -> None:
    """A spreadsheet has few."""
    path = tmp_path / "contacts"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(MAX_MEMBERS + 1):
            archive.writestr(str(number), b"")
    with pytest.raises(UnreadableFile, match="more than 2000 members"):
        inspect_file(FileHints(str(path)))


def test_the_first_rows_have_a_limit(tmp_path: Path) -> None:
    """Of all their cells together; few cells are shown up to 256 letters."""
    few = summary_of(tmp_path, b"Phone,Name\n+4790000001," + b"x" * 300 + b"\n")
    assert few.sample == [["+4790000001", "x" * 256]]
    names = ",".join(f"c{number}" for number in range(MAX_COLUMNS))
    row = ",".join(["y" * 120] * MAX_COLUMNS)
    many = summary_of(tmp_path, "\n".join([names, *[row] * 20]).encode())
    shown = sum(len(cell) for each in many.sample for cell in each)
    assert 0 < shown <= MAX_SAMPLE_CHARS < MAX_SAMPLE_ROWS * len(row)
