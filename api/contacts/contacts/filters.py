"""The filters of a contact search; an empty one matches any."""

from typing import Literal

from msgspec import Struct

Kind = Literal["numbers", "email", "name", "tags"]
COUNTRY_CHARS = 3  # of a number, such as +47: hardly selective


class Filters(Struct, frozen=True):
    """The filters of a search; a contact must match all of them, and the search plan.

    Names and the e-mail address are prefixes of search keys. `numbers` are alternative prefixes, as
    a number may be given without its country code. Any of the tags matches.
    """

    account_id: str
    list_id: int | None = None
    f_name: str = ""
    l_name: str = ""
    email: str = ""
    numbers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    contact_id: int | None = None
    deleted_lists: tuple[int, ...] = ()  # that still have contacts
    is_small: bool = False  # of the list: it is read whole
    by: Kind | None = None  # the kind with the fewest matches, if known
    few: tuple[Kind, ...] = ()  # kinds with so few matches that these are looked up by id

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds that are set, the one with the longest text first."""
        lengths: dict[Kind, int] = {
            "numbers": min(map(len, self.numbers), default=0) - COUNTRY_CHARS,
            "email": len(self.email),
            "name": max(len(self.f_name), len(self.l_name)),
            "tags": 0,
        }
        values = (self.numbers, self.email, self.f_name or self.l_name, self.tags)
        kinds = [kind for kind, each in zip(lengths, values, strict=True) if each]
        return tuple(sorted(kinds, key=lambda kind: -lengths[kind]))

    @property
    def is_any(self) -> bool:
        """Whether all contacts of the account, or of the list, match."""
        return not self.kinds and self.contact_id is None
