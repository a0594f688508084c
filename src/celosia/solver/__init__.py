"""Finding what to publish: the optimal search and its referee, local recoding, the recipe made sound."""
