"""The work for a document is bounded by its size, whatever is in it: function calls are counted."""

import json
from collections.abc import Callable
from contextlib import suppress
from cProfile import Profile
from typing import Any

import pytest
from msgspec import field

from wire.base import Labels, Number, Shape
from wire.decoding import lenient
from wire.decoding.errors import BadInput, InputErrors, errors_in
from wire.decoding.json_errors import check_unique, repaired
from wire.tree import MAX_PARTIES, parse_action

SIZE = 64_000
MAX_CALLS = 25_000  # about 2 ms


class Things(Shape, frozen=True):
    """An object whose lists and mappings have no limit."""

    counts: tuple[int, ...] = ()
    numbers: tuple[Number, ...] = ()
    inner: tuple["Things", ...] = ()
    by_name: dict[str, "Things"] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    one: "Things | None" = None
    any: Any = None


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions it calls, when types and countries are known."""
    with suppress(BadInput):
        work()
    profile = Profile()
    with profile, suppress(BadInput):
        work()
    return sum(each.callcount for each in profile.getstats())


def filled(item: str) -> str:
    """Return as many items as make a document of the size, without brackets around them."""
    return ",".join([item] * (SIZE // (len(item) + 1)))


def members(value: str, name: str = "k") -> str:
    return ",".join(f'"{name}{index}":{value}' for index in range(SIZE // (len(value) + 8)))


def branches(depth: int, leaf: str) -> str:
    """Return a tree with two actions at each level."""
    if depth == 0:
        return leaf
    inner = branches(depth - 1, leaf)
    play = '"type":"play","data":{"audioUrl":"https://a.no/x"}'
    return f'{{{play},"onError":{inner},"action":{inner}}}'


def dial(numbers: str) -> str:
    return f'{{"type":"dial","data":{{"number":[{numbers}]}}}}'


def chain(depth: int, leaf: str) -> str:
    return '{"type":"pause","action":' * depth + leaf + "}" * depth


def gathers(count: int, leaf: str) -> str:
    """Return a balanced tree, whose leaves are the same."""
    if count <= 0:
        return leaf
    half = (count - 1) // 2
    left, right = gathers(half, leaf), gathers(count - 1 - half, leaf)
    return f'{{"type":"gather","action":{left},"onError":{right}}}'


EMPTY = '{"type":"say","data":{"text":""}}'
LONG = '{"type":"pause","data":{"length":"x"}}'
PROMPTED = f'{{"type":"gather","data":{{"fallback":{EMPTY}}},"onError":{EMPTY},"action":'
HINTS = json.dumps(["a"] * 90)
HEARING = f'{{"type":"gather","data":{{"hints":{HINTS},"x":1}},"action":'
ACTIONS = [
    *(dial(filled(each)) for each in ('"tel:+47219"', '"agent:1"', '"12/34"', '"1"', "1", "{}")),
    dial(json.dumps("1 /" * 20_000)),
    *(
        branches(8, dial(",".join([f'"{each}"'] * 10)))
        for each in ("tel:+47219", "+390612345678", "+47219", "+47 (0)219/3")
    ),
    chain(150, f'{{"type":"play","data":{{"audioUrl":[{filled("1")}]}}}}'),
    chain(150, f'{{"type":"say","data":{{"text":5}},{members("[]")}}}'),
    *(gathers(count, EMPTY) for count in (60, 300, 600, 1_000)),
    f"{PROMPTED * 49}{LONG}{'}' * 49}",
    f"{HEARING * 49}{LONG}{'}' * 49}",
    f'{{"type":"say","data":{{"text":"x"}},{members("{}")}}}',
    f'{{"type":"say","data":[{filled("{}")}]}}',
    f'{{"type":"{" - at `$" * 9_000}"}}',
    f'{{"type":"stream","data":{{"url":"wss://a.no","parameters":{{{members("1")}}}}}}}',
    f'{{"type":"play","data":{{"audioUrl":[{filled(json.dumps("https://a.no"))}]}}}}',
]
THINGS = [
    f'{{"counts":[{filled("1.0")}]}}',
    f'{{"counts":[{filled("true")}]}}',
    f'{{"numbers":[{filled(json.dumps("+47 (0)219/3"))}]}}',
    f'{{"inner":[{filled("{}")},1]}}',
    f'{{"inner":[{filled(json.dumps({"counts": [1.5]}))}]}}',
    f'{{"byName":{{{members(json.dumps({"one": 1}))}}}}}',
    f'{{"labels":{{{members("1", "k k")}}}}}',
    f'{{"any":[{filled("[]")}],"one":1}}',
    '{"one":' * 150 + f'{{"counts":[{filled("1.0")}]}}' + ',"any":1,"more":1}' * 150,
    '{"inner":[{},' * 150 + "1" + f',{{"counts":[1,{filled("2")},"x"]}}]}}' * 150,
    f'{{"byName":{{{members("{}")},"k":{{"one":{{"byName":{{{members("{}")},"k":1}}}}}}}}}}',
    '{"one":' * 150 + f'{{"any":[{filled("1")}],"one":1}}' + "}" * 150,
]


@pytest.mark.parametrize("body", ACTIONS)
def test_an_action_is_read_in_few_calls(body: str) -> None:
    """Valid or not: an engine reads answers of webhooks beside its calls."""
    assert calls_of(lambda: parse_action(body.encode()[:65_536])) < MAX_CALLS


@pytest.mark.parametrize("body", THINGS)
def test_any_shape_is_read_in_few_calls(body: str) -> None:
    """Also without a limit of its lists."""
    assert calls_of(lambda: lenient.decode(body.encode(), Things)) < MAX_CALLS


@pytest.mark.parametrize("escape", ["\\n", "\\n ", "\\\\", "\\ud83d\\ude00", "\\ud83d", "\\"])
def test_a_text_of_escapes_is_repaired_in_few_calls(escape: str) -> None:
    """Most escapes are no halves of pairs."""
    body = (escape * (SIZE // len(escape))).encode()
    assert calls_of(lambda: repaired(body)) < 24_000


def test_repeated_names_are_found_in_few_calls() -> None:
    """The names of each object are counted once at most."""
    repeated = '{"a":1,"a":2}'
    body = f"[{filled(repeated)}]".encode()
    assert calls_of(lambda: check_unique(body)) < 40_000


def test_a_tree_of_dozens_of_actions_has_all_of_its_errors() -> None:
    """However deep they are, also beside values that are converted."""
    step = '{"type":"gather","data":{"timeout":1000.0,"hints":null},"onError":%s,"action":'
    good = '{"type":"say","data":{"text":"x","voice":""}}'
    steps = "".join(step % (EMPTY if index % 4 == 3 else good) for index in range(40))
    body = f"{steps}{LONG}{'}' * 40}"
    with pytest.raises(InputErrors) as caught:
        parse_action(body.encode())
    expected = ["action." * index + "onError.data.text" for index in range(3, 40, 4)]
    expected.append("action." * 40 + "data.length")
    assert sorted(each.path for each in errors_in(caught.value)) == sorted(expected)


def test_a_deep_document_has_the_first_error() -> None:
    """It is found, and the place is known, however little is looked at."""
    with pytest.raises(BadInput) as caught:
        parse_action(gathers(800, EMPTY).encode())
    assert caught.value.path.endswith("action.data.text")


def test_a_long_list_has_one_error() -> None:
    """Its items are not looked at; what is beside it is."""
    body = f'{{"type":"dial","data":{{"number":[{",".join(["7"] * 11)}],"x":1}}}}'
    with pytest.raises(InputErrors) as caught:
        parse_action(body.encode())
    assert [each.path for each in errors_in(caught.value)] == ["data.x", "data.number"]
    assert caught.value.errors[1].message == "expected a list of at most 10 items"


def test_a_large_document_has_one_error() -> None:
    """It is not converted; the decoder's error says where it is wrong."""
    with pytest.raises(BadInput) as caught:
        lenient.decode(f'{{"counts":[{filled("1.0")}],"x":1}}'.encode(), Things)
    assert not isinstance(caught.value, InputErrors)
    assert caught.value.path.startswith("counts[")


def test_a_tree_has_so_many_parties() -> None:
    """The error is where there are too many."""
    numbers = ",".join(['"+4721930000"'] * (MAX_PARTIES // 20))
    parse_action(branches(4, dial(numbers)).encode())
    with pytest.raises(BadInput) as caught:
        parse_action(branches(5, dial(numbers)).encode())
    assert caught.value.message == f"more than {MAX_PARTIES} numbers in all actions"


def test_a_path_has_the_beginning_of_a_long_name() -> None:
    """The paths of 50 errors are not 50 times as long as the document."""
    inner = json.dumps([7] * 40)
    body = f'{{"byName":{{"{"k" * 60_000}":{{"numbers":{inner}}}}}}}'
    with pytest.raises(InputErrors) as caught:
        lenient.decode(body.encode(), Things)
    assert all(len(each.path) < 200 for each in errors_in(caught.value))
