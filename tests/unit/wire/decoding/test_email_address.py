"""E-mail addresses are read as people write them."""

import pytest

from wire.base import Email, Shape
from wire.decoding.errors import BadInput
from wire.decoding.lenient import decode


class Person(Shape, frozen=True):
    """A shape with an optional address."""

    email: Email | None = None


def read(text: str) -> str | None:
    """Return the address of a request."""
    return decode(b'{"email":"%s"}' % text.encode(), Person).email


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("a@b.no", "a@b.no"),
        (" a@b.no\\n", "a@b.no"),
        ("\u00a0a@b.no\u00a0", "a@b.no"),
        (f"a@b.no{' ' * 254}", "a@b.no"),
        ("mailto:a@b.no", "a@b.no"),
        (" MailTo://a%2Bx@b.no?subject=mailto:c@d.no ", "a+x@b.no"),
        ("a?b@c.no", "a?b@c.no"),
        ("mailto@b.no", "mailto@b.no"),
        ("", None),
        (" ", None),
        ("mailto:", None),
    ],
)
def test_an_address(text: str, address: str | None) -> None:
    """Blanks around it and the rest of a link are removed; without a rest there is none."""
    assert read(text) == address


@pytest.mark.parametrize(
    "text", ["a", "a b@c.no", "mailto:a", "mailto:a@b.no,c@d.no", "mailto:a%0d@b.no", "tel:a@b.no"]
)
def test_no_address(text: str) -> None:
    """A link of another kind is none, nor are two addresses."""
    with pytest.raises(BadInput) as raised:
        read(text)
    assert raised.value.path == "email"
