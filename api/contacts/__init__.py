"""Contact lists and their contacts, imported from files in the background."""
