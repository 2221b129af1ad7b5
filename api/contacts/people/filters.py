"""What contacts are looked for by; what is empty means any."""

from msgspec import Struct


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

    @property
    def is_any(self) -> bool:
        """Tell whether all contacts of the account, or of the list, are wanted."""
        return not (self.f_name or self.l_name or self.email or self.numbers or self.tags) and (
            self.contact_id is None
        )
