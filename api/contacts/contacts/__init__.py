"""Contacts one by one: looked for, shown, made, changed, taken out."""
