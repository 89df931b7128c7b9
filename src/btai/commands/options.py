"""Options that several commands have."""

from __future__ import annotations

import click

__all__ = ["as_json", "workers"]

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
workers = click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Processes to use.")
