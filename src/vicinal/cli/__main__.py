"""``python -m vicinal.cli``."""

from vicinal.cli import main

main()
