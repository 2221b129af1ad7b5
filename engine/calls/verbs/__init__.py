"""One file a verb: how it begins and what each event does to it."""
