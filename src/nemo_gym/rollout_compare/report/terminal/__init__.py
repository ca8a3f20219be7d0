"""report/terminal."""
