# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The parts of python/matrix.py: frameworks, graphics objects, and complete pipelines."""

import sys
from pathlib import Path

# The folder of gl.py
sys.path.append(str(Path(__file__).resolve().parents[1] / "examples"))
