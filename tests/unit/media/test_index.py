"""The index of sources: bounded, and loaded after a restart."""

from pathlib import Path

from engine.media.clip import Clip, OwnedSource
from engine.media.index import ClipIndex, IndexEntry, SavedIndex, load_index, save_index
from wire.media import Audio, Source, Speech

CLIP_BYTES = 16_044


def entry(source: Source, key: str = "a" * 32, account: str = "acme") -> IndexEntry:
    """Return an entry with a clip of one second."""
    return IndexEntry(OwnedSource(account, source), Clip(key, 1000), 5, '"tag"', "espeak")


def test_saved_and_loaded(tmp_path: Path) -> None:
    """A saved index is loaded in the same order, texts and URLs alike."""
    entries = (entry(Speech("hi", "heart", "en", ssml=True)), entry(Audio("https://a.example/1")))
    save_index(tmp_path / "index.json", SavedIndex(entries, {"a" * 32: 7}))
    assert load_index(tmp_path / "index.json") == SavedIndex(entries, {"a" * 32: 7})
    assert [file.name for file in tmp_path.iterdir()] == ["index.json"]


def test_an_entry_that_cannot_be_saved_does_not_keep_others_from_it(tmp_path: Path) -> None:
    """Half of a surrogate pair, which no file can have, is left out with its entry."""
    good, bad = entry(Speech("hi", "heart", "en")), entry(Audio("https://a.example/\udce5"))
    save_index(tmp_path / "index.json", SavedIndex((bad, good), {"a" * 32: 7}))
    assert load_index(tmp_path / "index.json") == SavedIndex((good,), {"a" * 32: 7})


def test_damaged_or_missing(tmp_path: Path) -> None:
    """A damaged or missing index is an empty one."""
    file = tmp_path / "index.json"
    assert load_index(file) == SavedIndex()
    file.write_bytes(b'{"entries": [{"source"')
    assert load_index(file) == SavedIndex()


def test_bounded() -> None:
    """Beyond the limit the least recently used source is dropped."""
    index = ClipIndex(2, 1 << 20)
    one, two, three = (Audio(f"https://a.example/{n}") for n in range(3))
    index.put(entry(one))
    index.put(entry(two))
    assert index.get(OwnedSource("acme", one))
    index.put(entry(three))
    assert [e.owned.source for e in index.entries()] == [one, three]


def test_dropped_clips() -> None:
    """Sources of evicted clips are dropped."""
    index = ClipIndex(5, 1 << 20)
    index.put(entry(Audio("https://a.example/1"), "a" * 32))
    index.put(entry(Audio("https://a.example/2"), "b" * 32))
    index.drop_clips({"a" * 32})
    assert [e.clip.key for e in index.entries()] == ["b" * 32]


def test_an_account_displaces_its_own_clips_only() -> None:
    """Beyond the bytes of all, the account with most of them loses what it used least recently."""
    index = ClipIndex(100, 4 * CLIP_BYTES)
    sources = [Audio(f"https://a.example/{n}") for n in range(5)]
    index.put(entry(sources[0], "0" * 32, "other"))
    for number in range(3):
        index.put(entry(sources[number], str(number) * 32))
    assert index.get(OwnedSource("acme", sources[0]))
    index.put(entry(sources[2], "9" * 32))  # made again: its bytes count once
    for number in (3, 4):
        index.put(entry(sources[number], str(number) * 32))
    found = [(each.owned.account, each.clip.key[0]) for each in index.entries()]
    assert found == [("other", "0"), ("acme", "9"), ("acme", "3"), ("acme", "4")]
    assert index.clip_keys() == {key * 32 for key in "0934"}


def test_many_short_clips_displace_no_long_one() -> None:
    """Beyond the number of all, the account with most sources loses one."""
    index = ClipIndex(3, 1 << 30)
    long = OwnedSource("other", Audio("https://a.example/long"))
    index.put(IndexEntry(long, Clip("f" * 32, 3_600_000)))
    for number in range(5):
        index.put(entry(Audio(f"https://a.example/{number}")))
    assert [each.owned.account for each in index.entries()] == ["other", "acme", "acme"]


def test_a_clip_of_any_size_is_kept_until_the_next() -> None:
    """A clip that was made is played."""
    index = ClipIndex(100, 1)
    for number in range(2):
        index.put(entry(Audio(f"https://a.example/{number}")))
    assert len(index.entries()) == 1
