"""Contact lists and their files, over REST."""
