"""Header media: which files are accepted for each kind."""

import pytest

from api.templates.media import check_file
from wire.decoding.errors import BadInput

HEADS = {
    "image": b"\x89PNG\r\n\x1a\n",
    "video": b"\0\0\0\x20ftypisom",
    "document": b"%PDF-1.7\n",
}


@pytest.mark.parametrize(("kind", "mebibytes"), [("image", 5), ("video", 16), ("document", 100)])
def test_a_file_is_accepted_up_to_the_maximum(kind: str, mebibytes: int) -> None:
    """The maximum is the platform's, in MiB; the error says so."""
    max_bytes = mebibytes * 1_048_576
    assert check_file(HEADS[kind], max_bytes, kind.upper())
    with pytest.raises(BadInput, match=f"larger than {mebibytes} MiB, the maximum") as error:
        check_file(HEADS[kind], max_bytes + 1, kind)
    assert (error.value.path, error.value.code) == ("file", "too_large")


@pytest.mark.parametrize("brand", [b"qt  ", b"M4A ", b"heic", b"avif"])
def test_other_files_of_the_container_are_no_videos(brand: bytes) -> None:
    """Films of a camera, music and pictures begin like MP4, apart from their brand."""
    with pytest.raises(BadInput, match="its content is of no known type, not video/mp4"):
        check_file(b"\0\0\0\x20ftyp" + brand, 1, "video")


def test_an_empty_file_is_rejected() -> None:
    """Its content has no type either, but that is not what is wrong."""
    with pytest.raises(BadInput, match="the file is empty"):
        check_file(b"", 0, "image")
