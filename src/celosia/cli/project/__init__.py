"""Commands on the project itself: source, dictionary, request, people."""
