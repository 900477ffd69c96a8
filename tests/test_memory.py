"""How much memory there is."""

from vicinal import _memory


def test_available_memory_is_that_of_the_machine(monkeypatch):
    available = _memory.available_memory()

    def missing(*_):
        raise FileNotFoundError

    monkeypatch.setattr(_memory, "open", missing, raising=False)
    assert 2**20 < available <= _memory.available_memory() < 2**60
