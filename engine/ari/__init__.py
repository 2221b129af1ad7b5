"""One PBX over ARI: requests, events and what carries them; knows nothing of calls."""
