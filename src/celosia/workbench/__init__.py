"""What the page in the browser asks of a project: views, edits and background reports."""
