"""The pages of documents, signatures, releases and verification."""
