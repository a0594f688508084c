"""Pictures: shapes, charts made of them, and how they are written as SVG or PNG. Ignores what is drawn."""
