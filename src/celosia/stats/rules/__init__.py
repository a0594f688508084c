"""The rules that turn a PERSONAL column into a published one."""
