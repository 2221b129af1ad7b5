"""The text format, as Prometheus' own parser reads it."""

from collections.abc import Iterable

from prometheus_client.parser import text_string_to_metric_families

from base.metrics import Counter, CurrentValues, Family, Gauge, Histogram, Metadata, text_of


def samples(family: Family) -> tuple[str, str, list[tuple[str, dict[str, str], float]]]:
    """Return a family's kind, help and samples as they are parsed."""
    (parsed,) = text_string_to_metric_families("".join(text_of(family)))
    found = [(each.name, each.labels, each.value) for each in parsed.samples]
    return parsed.type, parsed.documentation, found


def test_a_counter() -> None:
    """Labels keep quotes, backslashes and line ends."""
    family = Counter("switchroom_x_total", "What x is", "node", "reason")
    family.table("pbx1")['a "b" \\ c\n'] += 3
    labels = {"node": "pbx1", "reason": 'a "b" \\ c\n'}
    assert samples(family) == ("counter", "What x is", [("switchroom_x_total", labels, 3)])


def test_gauges() -> None:
    """Those that are set, and those that are read for the page; with labels or without."""
    kept = Gauge("switchroom_x", "x")
    kept.table()[""] = 5
    read = CurrentValues(Metadata("switchroom_y", "y", ("slot",)), ((("3",), 0.25), (("4",), True)))
    assert samples(kept) == ("gauge", "x", [("switchroom_x", {}, 5)])
    expected = [("switchroom_y", {"slot": "3"}, 0.25), ("switchroom_y", {"slot": "4"}, 1)]
    assert samples(read) == ("gauge", "y", expected)


def test_a_histogram() -> None:
    """Its buckets are cumulative."""
    family = Histogram("switchroom_x_seconds", "x", "slot", bounds=(0.1, 1.0))
    for value in (0.05, 0.5, 7.0):
        family.series(3).observe(value)
    kind, _, found = samples(family)
    numbers = {(name.rpartition("_")[2], labels.get("le")): value for name, labels, value in found}
    assert kind == "histogram"
    assert all(labels["slot"] == "3" for _, labels, _ in found)
    assert numbers == {
        ("bucket", "0.1"): 1,
        ("bucket", "1.0"): 2,
        ("bucket", "+Inf"): 3,
        ("count", None): 3,
        ("sum", None): 7.55,
    }


def test_a_family_that_grows_meanwhile() -> None:
    """The page shows what there was when it reached the family."""
    family = Counter("switchroom_x_total", "x", "node", "slot")
    for node in ("pbx1", "pbx2"):
        family.initialize(node, 0)
    text = ""
    for lines in growing(family, text_of(family)):
        text += lines
    assert text.count("pbx") == 2


def growing(family: Counter, lines: Iterable[str]) -> Iterable[str]:
    """Return the lines, with another series made at each."""
    for number, line in enumerate(lines):
        family.initialize(f"another{number}", 0)
        yield line
