"""What contacts are looked for by; what is empty means any."""

from typing import Literal

from msgspec import Struct

Kind = Literal["numbers", "email", "name", "tags"]
COUNTRY = 3  # signs of a number, such as +47, that tell little


class Filters(Struct, frozen=True):
    """Whose contacts are wanted, and which; all that is given must fit.

    Names and the e-mail are folded and are what a contact's begin with. A number is one of several
    beginnings, since it may have been given without its country; tags: any of them.
    """

    account_id: str
    list_id: int | None = None
    f_name: str = ""
    l_name: str = ""
    email: str = ""
    numbers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    contact_id: int | None = None
    hidden: tuple[int, ...] = ()  # lists that are deleted, of which some contacts are still there
    is_small: bool = False  # the list: then it is read whole
    by: Kind | None = None  # what the fewest contacts have, as far as that is known
    few: tuple[Kind, ...] = ()  # what few have: so few that they can be listed

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Name the kinds that are given, that which tells most by its signs first."""
        signs: dict[Kind, int] = {
            "numbers": min(map(len, self.numbers), default=0) - COUNTRY,
            "email": len(self.email),
            "name": max(len(self.f_name), len(self.l_name)),
            "tags": 0,
        }
        given = (self.numbers, self.email, self.f_name or self.l_name, self.tags)
        kinds = [kind for kind, each in zip(signs, given, strict=True) if each]
        return tuple(sorted(kinds, key=lambda kind: -signs[kind]))

    @property
    def is_any(self) -> bool:
        """Tell whether all contacts of the account, or of the list, are wanted."""
        return not self.kinds and self.contact_id is None
