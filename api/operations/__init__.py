"""The installation over REST, for its operators: nodes, engines, shards, store, audio, alerts."""
