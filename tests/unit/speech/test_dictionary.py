"""Pronunciations."""

from speech.grammar.dictionary import Dictionary, parse_dictionary


def test_a_file_of_words() -> None:
    """Further pronunciations of a word are numbered; other lines are ignored."""
    lines = ["a AH\n", "a(2) EY\n", "\n", "lonely\n", "able EY B AH L\n"]
    assert parse_dictionary(lines) == {"a": ["AH", "EY"], "able": ["EY B AH L"]}


def test_known_words(dictionary: Dictionary) -> None:
    """As the dictionary has them."""
    assert dictionary.find("yes") == ["Y E S"]


def test_compounds(dictionary: Dictionary) -> None:
    """Two known words of three characters or more are one word."""
    assert dictionary.find("voicemail") == ["V O I C E M A I L"]
    assert dictionary.find("nono") == []


def test_abbreviations(dictionary: Dictionary) -> None:
    """Short words without a vowel are spelled, if all characters are known."""
    assert dictionary.find("sms") == ["S M S"]
    assert dictionary.find("smsmsm") == []
    assert dictionary.find("sz") == []
    assert dictionary.find("ox") == []
