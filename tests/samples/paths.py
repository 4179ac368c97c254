"""Where samples of foreign files are."""

from pathlib import Path

TOOL_SAMPLES = Path(__file__).parent / "tools"
"""Output of other memory tools; README.md there says where each is from."""
