"""Contact lists: uploaded, mapped, processed in the background; and the contacts in them."""
