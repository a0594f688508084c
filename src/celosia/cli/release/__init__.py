"""Commands that release, document and deliver."""
