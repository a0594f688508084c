"""The pages of policy, treatments and search."""
