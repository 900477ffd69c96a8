"""What is said before more memory would be asked for than there is."""

import pytest

from vicinal import _memory


def test_available_memory_is_that_of_the_machine(monkeypatch):
    available = _memory.available_memory()

    def missing(*_):
        raise FileNotFoundError

    monkeypatch.setattr(_memory, "open", missing, raising=False)
    assert 2**20 < available <= _memory.available_memory() < 2**60


def test_what_does_not_fit_is_refused_in_one_sentence():
    _memory.refuse_beyond_memory(1000, "Ten rows", "take fewer")
    with pytest.raises(MemoryError, match=r"Ten rows need 1e\+09 GB of memory, but .* GB are available; take fewer\."):
        _memory.refuse_beyond_memory(10**18, "Ten rows", "take fewer")
