"""The manager interface of one PBX, over HTTP: for the few things that ARI has no word for."""
