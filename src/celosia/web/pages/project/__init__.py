"""The pages of the project itself: list, overview, data, request, people."""
