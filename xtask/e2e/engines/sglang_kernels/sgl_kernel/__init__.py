"""Stand-in for SGLang's kernels, which have no build for processors in the registry.

SGLang's own code replaces them where it runs on a processor. Here their names can be imported, and
fail if they are called."""

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType


class Kernel:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel(f"{self.name}.{name}")

    def __call__(self, *_, **__):
        raise NotImplementedError(f"{self.name} has no build for processors")


class Kernels(ModuleType):
    """A module of which every attribute is a kernel."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Kernel(f"{self.__name__}.{name}")


class Finder:
    def find_spec(self, name, *_):
        return ModuleSpec(name, self, is_package=True) if name.startswith("sgl_kernel.") else None

    def create_module(self, spec):
        return Kernels(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Finder())
sys.modules[__name__].__class__ = Kernels
