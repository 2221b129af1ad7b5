"""Large pages are converted in pieces, between which others have their turn."""

import asyncio

from api.common.pieces import PIECE, in_pieces


async def test_others_have_their_turn_between_pieces() -> None:
    """The order stays; a page of few rows takes no turn more."""
    converted, seen = 0, list[int]()

    def convert(number: int) -> int:
        nonlocal converted
        converted += 1
        return -number

    async def watch() -> None:
        while True:
            seen.append(converted)
            await asyncio.sleep(0)

    watching = asyncio.create_task(watch())
    assert await in_pieces(convert, range(3 * PIECE)) == [-each for each in range(3 * PIECE)]
    watching.cancel()
    assert seen == [PIECE, 2 * PIECE]
    assert await in_pieces(convert, range(PIECE)) == [-each for each in range(PIECE)]
    assert await in_pieces(convert, []) == []
    assert seen == [PIECE, 2 * PIECE]
