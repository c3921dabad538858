# SPDX-License-Identifier: Apache-2.0
"""What python/matrix.py runs: frameworks, the places they exchange with, and whole pipelines."""

import sys
from pathlib import Path

# gl.py is the examples'.
sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
