"""The inspector: a web page, served on this machine, that shows what an agent believes, expects and why it acts."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Imported when asked for: the command's help should not wait for a web server.
if TYPE_CHECKING:
    from btai.inspector.export import export_page
    from btai.inspector.gui import GUI
    from btai.inspector.live import LiveTrace
    from btai.inspector.replay import RunTrace
    from btai.inspector.server import Inspector

__all__ = ["GUI", "Inspector", "LiveTrace", "RunTrace", "export_page"]

_MODULES = {"GUI": "gui", "Inspector": "server", "LiveTrace": "live", "RunTrace": "replay", "export_page": "export"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
