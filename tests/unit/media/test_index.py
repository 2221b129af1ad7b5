"""The index of sources: bounded, and loaded after a restart."""

from pathlib import Path

from engine.media.clip import Clip, OwnedSource
from engine.media.index import ClipIndex, IndexEntry, SavedIndex, load_index, save_index
from wire.media import Audio, Source, Speech


def entry(source: Source, key: str = "a" * 32) -> IndexEntry:
    """Return an entry with a clip of one second."""
    return IndexEntry(OwnedSource("acme", source), Clip(key, 1000), 5, '"tag"', "espeak")


def test_saved_and_loaded(tmp_path: Path) -> None:
    """A saved index is loaded in the same order, texts and URLs alike."""
    entries = (entry(Speech("hi", "heart", "en", ssml=True)), entry(Audio("https://a.example/1")))
    save_index(tmp_path / "index.json", SavedIndex(entries, {"a" * 32: 7}))
    assert load_index(tmp_path / "index.json") == SavedIndex(entries, {"a" * 32: 7})
    assert [file.name for file in tmp_path.iterdir()] == ["index.json"]


def test_damaged_or_missing(tmp_path: Path) -> None:
    """A damaged or missing index is an empty one."""
    file = tmp_path / "index.json"
    assert load_index(file) == SavedIndex()
    file.write_bytes(b'{"entries": [{"source"')
    assert load_index(file) == SavedIndex()


def test_bounded() -> None:
    """Beyond the limit the least recently used source is dropped."""
    index = ClipIndex(limit=2)
    one, two, three = (Audio(f"https://a.example/{n}") for n in range(3))
    index.put(entry(one))
    index.put(entry(two))
    assert index.get(OwnedSource("acme", one))
    index.put(entry(three))
    assert [e.owned.source for e in index.entries()] == [one, three]


def test_dropped_clips() -> None:
    """Sources of evicted clips are dropped."""
    index = ClipIndex(limit=5)
    index.put(entry(Audio("https://a.example/1"), "a" * 32))
    index.put(entry(Audio("https://a.example/2"), "b" * 32))
    index.drop_clips({"a" * 32})
    assert [e.clip.key for e in index.entries()] == ["b" * 32]
