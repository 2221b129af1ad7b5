"""Contacts of a list as a file: made in the background, downloaded or sent by e-mail."""
