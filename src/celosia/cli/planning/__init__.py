"""Commands that plan and apply treatments."""
