"""Writers: Arrow batches of text into files, whole or not at all."""
