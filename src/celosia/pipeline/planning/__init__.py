"""From a policy to a plan: hierarchies, search input, methods, explanation."""
