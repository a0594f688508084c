"""The plan applied, the written file checked, the rules judged, the approvals."""
