"""Programs behind ``python -m``: one module a subcommand, and what they share."""
