"""Audio of a stream: frames, levels, the ends of utterances, sample rates."""
