"""Models to and from pymdp (inferactively-pymdp 1.0), by its own conventions.

Reading needs no pymdp, nor does writing: only `PymdpModel.agent` imports it, from the extra `btai[pymdp]`.
"""

from btai.interop.pymdp.names import Names
from btai.interop.pymdp.reading import from_pymdp
from btai.interop.pymdp.writing import PymdpModel, to_pymdp

__all__ = ["Names", "PymdpModel", "from_pymdp", "to_pymdp"]
