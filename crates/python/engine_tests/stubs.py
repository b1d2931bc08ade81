"""Stand-ins for modules that need a GPU, so that an engine's own code can be imported without one.

Any attribute of such a module is a class that accepts everything. Nothing is computed with them: the
tests drive code that reads text.
"""

from __future__ import annotations

import sys
from abc import ABCMeta
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Devices that an engine looks for as attributes of `torch`.
ABSENT = {"npu"}


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def is_decorated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a stand-in is called as a decorator: it then returns what it decorates."""
    return len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Kind)


class Kind(ABCMeta):
    """The type of stand-ins. A stand-in is a class, so that others can inherit from it."""

    def __getattr__(cls, name: str) -> Any:
        if is_special(name):
            raise AttributeError(name)
        return stand_in(name)

    def __or__(cls, _: Any) -> Any:
        return cls

    def __iter__(cls) -> Any:
        return iter(())

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __lt__(cls, _: Any) -> bool:
        return False

    def __ge__(cls, _: Any) -> bool:
        return True

    def __add__(cls, _: Any) -> Any:
        return cls

    def __int__(cls) -> int:
        return 0

    def __neg__(cls) -> Any:
        return cls

    __ror__ = __or__
    __gt__ = __lt__
    __le__ = __ge__
    __sub__ = __mul__ = __truediv__ = __radd__ = __rsub__ = __rmul__ = __add__
    __index__ = __len__ = __int__


class Anything(metaclass=Kind):
    """Accepts everything."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return args[0] if is_decorated(args, kwargs) else object.__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __init_subclass__(cls, **_: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if is_special(name):
            raise AttributeError(name)
        return stand_in(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if is_decorated(args, kwargs) else Anything()

    def __iter__(self) -> Any:
        return iter(())

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> bool:
        return False

    def __bool__(self) -> bool:
        return False

    def __getitem__(self, _: Any) -> Any:
        return self

    def __setitem__(self, _: Any, __: Any) -> None:
        pass

    def __radd__(self, other: Any) -> Any:
        return other

    def __lt__(self, _: Any) -> bool:
        return False

    def __ge__(self, _: Any) -> bool:
        return True

    def __int__(self) -> int:
        return 0

    def __neg__(self) -> Any:
        return self

    __gt__ = __lt__
    __le__ = __ge__
    __index__ = __len__ = __int__


def stand_in(name: str) -> type[Anything]:
    return Kind(name, (Anything,), {})


class StandInModule(ModuleType):
    """A module that has every attribute."""

    def __getattr__(self, name: str) -> Any:
        if is_special(name) or name in ABSENT:
            raise AttributeError(name)
        made = stand_in(name)
        setattr(self, name, made)
        return made


class Finder(MetaPathFinder, Loader):
    """Finds stand-ins for the modules of these names."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, _: Any = None, __: Any = None) -> ModuleSpec | None:
        if any(name == one or name.startswith(f"{one}.") for one in self.names):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = StandInModule(spec.name)
        module.__path__ = []
        # A recent one, for code that asks.
        module.__version__ = "2.14.0"
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


def install(*names: str) -> None:
    """Stand in for these modules from now on."""
    sys.meta_path.insert(0, Finder(set(names)))
