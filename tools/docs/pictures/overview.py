"""The components with their connections, and the owners of shards before and after a failure."""

from collections.abc import Sequence

from tools.docs.pictures import svg

_NODES, _SLOTS = ("pbx1", "pbx2"), 4
_CELL, _GAP = 58, 6
OWNERS_BEFORE = ((1, 2, 3, 1), (2, 3, 1, 2))
OWNERS_AFTER = ((3, 2, 3, 2), (2, 3, 3, 2))
_CLASSES = {1: "own", 2: "other", 3: "box"}


def architecture() -> str:
    """Draw the programs and the connections between them."""
    parts = [
        *svg.labelled((20, 150, 130, 50), "carrier, phones", "SIP and audio"),
        svg.box(200, 60, 170, 230, "group"),
        svg.text(285, 80, "PBX nodes", "small middle"),
        *svg.labelled((220, 95, 130, 50), "Asterisk", "pbx1"),
        *svg.labelled((220, 205, 130, 50), "Asterisk", "pbx2"),
        svg.box(420, 60, 170, 230, "group"),
        svg.text(505, 80, "engines, alike", "small middle"),
        *svg.labelled((440, 95, 130, 50), "engine 1", "runs calls", "own"),
        *svg.labelled((440, 205, 130, 50), "engine 2", "runs calls", "own"),
        *svg.labelled((440, 320, 130, 50), "store", "Redis or Valkey"),
        *svg.labelled((650, 95, 140, 50), "REST layer", "accounts, records", "own"),
        *svg.labelled((650, 320, 140, 50), "database", "PostgreSQL"),
        *svg.labelled((860, 60, 140, 50), "your program", "starts calls", "other"),
        *svg.labelled((860, 205, 140, 50), "your webhooks", "say what is next", "other"),
        svg.arrow((150, 165), (218, 125), both=True),
        svg.arrow((150, 185), (218, 228), both=True),
        *(
            svg.arrow((350, left), (438, right), both=True)
            for left in (120, 230)
            for right in (120, 230)
        ),
        svg.text(394, 108, "ARI", "small middle"),
        svg.arrow((505, 256), (505, 318), both=True),
        svg.arrow((648, 120), (572, 120)),
        svg.text(610, 112, "RPC", "small middle"),
        svg.arrow((720, 145), (720, 318), both=True),
        svg.arrow((858, 92), (792, 112)),
        svg.text(826, 90, "HTTPS", "small middle"),
        svg.arrow((572, 232), (858, 232)),
        svg.text(640, 224, "HTTPS, signed", "small middle"),
    ]
    title = "Phones and carriers reach Asterisk; engines control it and call your webhooks"
    return svg.picture(1020, 390, title, parts)


def takeover() -> str:
    """Draw the shards of two nodes, and their owners before and after."""
    right = 400
    parts = [
        *_grid(40, "three engines", OWNERS_BEFORE),
        svg.arrow((322, 110), (386, 110)),
        svg.text(354, 100, "engine 1 dies", "small middle"),
        *_grid(right, "the others own its shards", OWNERS_AFTER),
    ]
    title = "Each shard belongs to one engine; when it dies, the others take its shards over"
    return svg.picture(right + 300, 190, title, parts)


def _grid(left: float, words: str, owners: Sequence[Sequence[int]]) -> list[str]:
    parts = [svg.text(left, 22, words, "bold")]
    for row, (node, line) in enumerate(zip(_NODES, owners, strict=True)):
        y = 40 + row * (_CELL + _GAP)
        for slot, owner in enumerate(line):
            place = (left + slot * (_CELL + _GAP), y, _CELL, _CELL)
            label = f"{node}/{slot}"
            parts += svg.labelled(place, label, f"engine {owner}", _CLASSES[owner])
    return parts
