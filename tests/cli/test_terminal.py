"""What the terminal shows: tables of 80 columns, progress with and without a terminal, names that look like markup."""

from dataclasses import replace

import joblib
import numpy as np
import pytest
from shell import vicinal

from vicinal.cli._arguments import check_jobs, image_shape
from vicinal.cli._score_tables import score_table
from vicinal.cli._terminal import Steps, note, refuse, say, show, warn, width
from vicinal.experiments import Cell, Variant
from vicinal.experiments._runner import share_cores

ODD = "a [bold]name[/] with [/brackets] :smile:"


CELL = Cell("iris [1]", "raw", Variant(), seed=0, fold=2)


def test_sentences_are_shown_as_they_are(capsys):
    for speak in (say, note, warn, refuse):
        speak(ODD)
    shown = capsys.readouterr()
    assert shown.out == f"{ODD}\n"
    assert shown.err == f"{ODD}\n{ODD}\nvicinal: {ODD}\n"


def test_consoles_follow_the_width(monkeypatch, capsys):
    for columns in (40, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert width() == columns
        say("word " * 60)
        lines = capsys.readouterr().out.splitlines()
        assert columns - 5 <= max(map(len, lines)) <= columns
        say("/a/long path/" * 20, wrap=False)
        assert len(capsys.readouterr().out.splitlines()) == 1


def test_progress_without_a_terminal_is_plain_lines(capsys):
    with Steps(total=3) as steps:
        for event in ("kept", "started", "done", "no [memory]"):
            steps.cell(CELL, event)
        steps.share(0.5)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "iris [1] raw fold 2: done\niris [1] raw fold 2: no [memory]\n"


def test_progress_on_a_terminal_is_a_bar(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with Steps(total=2) as steps:
        steps.cell(CELL, "started")
        steps.cell(CELL, "done")
        steps.cell(replace(CELL, fold=3), "it has [too] few rows")
    shown = capsys.readouterr().err
    assert "iris [1] raw fold 3: it has [too] few rows\n" in shown
    assert "100%" in shown
    assert "fold 2: done" not in shown


def test_a_table_of_scores_shows_names_as_they_are(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    show(score_table([ODD, "long " * 40], np.array([12.5, -0.25]), 1))
    lines = capsys.readouterr().out.splitlines()
    assert any(ODD in line and "12.50" in line for line in lines)
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("arguments", [("data", "list"), ("reproduce", "list")], ids=" ".join)
def test_tables_are_not_wider_than_80_columns(arguments):
    assert max(map(len, vicinal(*arguments).stdout.splitlines())) <= 80


class TestJobs:
    def test_cores_are_shared(self, monkeypatch):
        monkeypatch.setattr(joblib, "cpu_count", lambda: 8)
        assert share_cores(None, 100) == (8, 1)
        assert share_cores(-1, 100) == (8, 1)
        assert share_cores(-2, 100) == (7, 1)
        assert share_cores(2, 100) == (2, 4)
        assert share_cores(None, 3) == (3, 2)
        assert share_cores(20, 100) == (20, 1)
        assert share_cores(None, 0) == (1, 8)

    def test_no_jobs_are_refused(self):
        with pytest.raises(ValueError, match=r"--jobs must be a number of at least 1, or -1 for all cores; got 0\."):
            check_jobs(0)
        assert check_jobs(None) is None
        assert check_jobs(-1) == -1


def test_image_shapes():
    assert image_shape(None) is None
    assert image_shape("28x28") == (28, 28)
    assert image_shape("32X32x3") == (32, 32, 3)
    with pytest.raises(ValueError, match="--image-shape must be like 28x28 or 32x32x3; got 'big'"):
        image_shape("big")
