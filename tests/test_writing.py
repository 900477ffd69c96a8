"""Files that appear whole or not at all."""

import os
import stat

import pytest

from vicinal._writing import check_free, replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "o.txt"
    with replacing(path, force=False) as beside:
        assert beside.parent == tmp_path
        assert beside.suffix == ".txt"
        beside.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert names(tmp_path) == ["o.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_whatever_goes_wrong_the_old_file_stays(tmp_path, error):
    path = tmp_path / "o.txt"
    path.write_text("old")

    def write():
        with replacing(path, force=True) as beside:
            beside.write_text("half")
            raise error("no room")

    with pytest.raises(error, match="o.txt was not written: no room" if error is OSError else "no room"):
        write()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["o.txt"]


def test_an_interrupted_write_leaves_nothing(tmp_path):
    def write():
        with replacing(tmp_path / "o.txt", force=False) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert names(tmp_path) == []


def test_files_have_the_rights_of_any_other(tmp_path):
    (tmp_path / "plain").touch()
    with replacing(tmp_path / "o", force=False) as beside:
        beside.write_text("")
    assert stat.S_IMODE(os.stat(tmp_path / "o").st_mode) == stat.S_IMODE(os.stat(tmp_path / "plain").st_mode)


def test_files_are_not_overwritten_unless_forced(tmp_path):
    path = tmp_path / "o.txt"
    check_free(path, force=False)
    path.touch()
    check_free(path, force=True)
    with pytest.raises(FileExistsError, match=r"o\.txt exists; write elsewhere or add --force"):
        check_free(path, force=False)
    with (
        pytest.raises(FileNotFoundError, match=r"There is no folder .*none to write o\.txt to"),
        replacing(tmp_path / "none" / "o.txt", force=True),
    ):
        raise AssertionError("nothing is to be written")
