"""A folder to carry to a machine without internet: Python where it can be had, the packages and a starter."""
