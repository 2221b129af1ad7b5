"""Media streams: what an engine and a stream gateway say to each other."""
