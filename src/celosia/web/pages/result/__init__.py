"""The pages of the candidate and its evaluation."""
