"""What the README says: its tables are those of the committed results."""

import importlib.util
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_tables_are_those_of_the_results():
    spec = importlib.util.spec_from_file_location("tables", ROOT / "experiments" / "tables.py")
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert tables.fill(readme) == readme
