"""Encodings that are distinguished by the letters of languages."""

import pytest

from api.contacts.imports.reader.encodings import encoding_by_alphabet

POLISH = "Łukasz Małgorzata Grażyna Zdzisław Świętosława Śliwiński Wójcik Dąbrowska Kraków Źródło"
CZECH = "Jiří Dvořák Tomáš Novák Černý Němec Růžena Kučerová Plzeň Šťastný Žižka"
HUNGARIAN = "Erdős Győző Mátyás Szűcs Török Kovács Fehérvár Debreceni Zoltánné"
ROMANIAN = "Ionuţ Brăila Mureş Iaşi Ştefan Constanţa Bălan Târgu"
CROATIAN = "Đurđa Kovačić Šime Žarko Horvatić Ćiril Dragičević"
TURKISH = "Y\u0131ld\u0131z Çağlar Öztürk Şahin İstanbul Güneş Ayşe Doğan"
LITHUANIAN = "Kęstutis Žemaitė Jūratė Šarūnas Vaičiūnas Rūta Gražina"
LATVIAN = "Jānis Bērziņš Kārlis Ozoliņš Rīga Līga Ģirts Ķēniņš"
NORDIC = "Åse Bjørn Jürgen Sørensen Kjær Ødegård André Søren Pär"
MIXED = "José François Zoë Müller Núñez João Renée Citroën O\u2019Neill Peña Hélène"
ICELANDIC = "Guðrún Þór Sigurður Ásgeir Björk Jóhanna Ýmir Sævar"


def read(names: str, encoding: str, region: str | None = None) -> str:
    """Return the names as they are read in the encoding that is found."""
    content = names.encode(encoding)
    return content.decode(encoding_by_alphabet(content, region) or "ascii", "replace")


@pytest.mark.parametrize("region", [None, "NO", "PL", "CZ", "HU", "TR", "LT"])
@pytest.mark.parametrize(
    ("names", "encodings"),
    [
        (POLISH, ("cp1250", "iso8859-2", "cp852", "mac_latin2")),
        (CZECH, ("cp1250", "iso8859-2", "cp852", "mac_latin2")),
        (HUNGARIAN, ("cp1250", "iso8859-2", "cp852", "mac_latin2")),
        (ROMANIAN, ("cp1250", "iso8859-2", "cp852")),
        (CROATIAN, ("cp1250", "iso8859-2", "cp852")),
        (TURKISH, ("cp1254", "iso8859-9", "cp857")),
        (LITHUANIAN, ("cp1257",)),
        (LATVIAN, ("cp1257",)),
        (NORDIC, ("cp1252", "iso8859-1", "mac_roman", "cp850")),
        (MIXED.replace("\u2019", ""), ("cp1252", "iso8859-1", "mac_roman", "cp850")),
        (MIXED, ("cp1252", "mac_roman")),
        (ICELANDIC, ("cp1252", "iso8859-1")),
    ],
)
def test_words_tell_the_encoding(
    names: str, encodings: tuple[str, ...], region: str | None
) -> None:
    """In files of any account: a company has customers abroad."""
    for encoding in encodings:
        assert read(names, encoding, region) == names, encoding


@pytest.mark.parametrize(
    ("names", "encoding", "region", "otherwise"),
    [
        ("Erdős Győző", "cp1250", "HU", "Erdõs Gyõzõ"),  # or Estonians
        ("Jiří", "cp1250", "CZ", "Jiří"),
        ("Bjřrn", "cp1250", "CZ", "Bjørn"),
        ("Y\u0131ld\u0131z", "cp1254", "TR", "Yýldýz"),  # or an Icelander
        ("Brăila", "cp1250", "RO", "Brãila"),
        ("Høgná", "cp1252", "FO", "Hřgná"),
    ],
)
def test_the_region_decides_between_languages(
    names: str, encoding: str, region: str, otherwise: str
) -> None:
    """A few words may be of several; without a region, the one of Western Europe is meant."""
    assert read(names, encoding, region) == names
    assert read(names, encoding) == otherwise


@pytest.mark.parametrize("encoding", ["cp1251", "koi8-r", "cp1253", "cp866", "mac_cyrillic"])
def test_other_alphabets_are_not_among_them(encoding: str) -> None:
    """Words of Cyrillic and Greek letters are no words of these languages."""
    names = "Дмитрий Екатерина Иван" if encoding != "cp1253" else "Γιώργος Ελένη Νίκος"
    assert encoding_by_alphabet(names.encode(encoding), None) is None


def test_plain_text_has_no_encoding() -> None:
    """There is nothing to tell."""
    assert encoding_by_alphabet(b"+4790000001,Nina", "PL") is None
