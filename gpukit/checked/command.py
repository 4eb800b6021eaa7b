"""What `check`, `profile` and `play` have in common: a kernel to be launched under the checker."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

from gpukit import errors, interrupts, target
from gpukit.checked import instrumented
from gpukit.compiler import intrinsics
from gpukit.compiler.frontend import resolve
from gpukit.cpu import dispatcher, ufuncs
from gpukit.cpu.launch import configure, failure, launcher
from gpukit.cpu.memory import allocations
from gpukit.cpu.memory.ndarray import DeviceNDArray

# (kernel, configuration, arguments) -> what the command returns
Run = Callable[[Any, configure.Configuration, tuple[Any, ...]], Any]
# (kernel, its launch configuration, why a GPU rejects it) -> what the command returns
Refused = Callable[[Any, Any, errors.LaunchError], Any]
# What the command returns for each launch of a function -> what it returns for the function
Join = Callable[[list[Any]], Any]
# Wraps the call of a function; receives the list of answers, to append to
Around = Callable[[list[Any]], contextlib.AbstractContextManager[None]]
# Receives the name of a command and its result, None where it raises
Listener = Callable[[str, Any], None]

_listeners: list[Listener] = []


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` for each command inside a `with` block; observers do not see its launches."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@contextlib.contextmanager
def observing(run: Run) -> Iterator[None]:
    """Let `run` do every launch inside a `with` block, instead of the launcher."""
    before = launcher.observe_launches(run)
    try:
        yield
    finally:
        launcher.observe_launches(before)


@contextlib.contextmanager
def observing_gpu(name: str, run: Run, thread: int | None = None) -> Iterator[None]:
    """Let `run` do every launch of a kernel of the GPU inside a `with` block, on the CPU.

    Only those of one `thread` if it is passed. `name` is that of the command, for errors. Where the
    target is not a GPU nothing is done.
    """
    if target.active().name != "cuda":
        yield
        return
    dispatchers = intrinsics.installed()[0].dispatcher.CUDADispatcher
    launch = dispatchers.call

    def observed(kernel: Any, arguments: tuple[Any, ...], configuration: Any) -> None:
        if thread not in (None, threading.get_ident()):
            launch(kernel, arguments, configuration)
            return
        given = (configuration.griddim, configuration.blockdim, 0, configuration.sharedmem)
        _on_the_host(run, _kernel_of(name, kernel), configure.parse(given), arguments)

    dispatchers.call = observed
    try:
        yield
    finally:
        dispatchers.call = launch


class Command:
    """A kernel with a command: `command[grid, block, stream, shared_bytes](*arguments)` runs it.

    Like a kernel it has `forall(tasks)`. An array function made by `cuda.vectorize` or
    `cuda.guvectorize` is called as usual, `command(*arguments, out=...)`, and its launch is run. So
    are all launches of a function that launches kernels, `command(*arguments)`, where there is a
    `join`. Raises ArgumentError for anything else, and LaunchError for a launch that a GPU rejects,
    unless `refused` handles it.
    """

    def __init__(
        self,
        name: str,
        kernel: Any,
        run: Run,
        refused: Refused | None = None,
        join: Join | None = None,
        around: Around | None = None,
    ) -> None:
        self.name = name
        self.kernel = _kernel_of(name, kernel)
        self._function = kernel if inspect.isroutine(kernel) else None
        self._join = join
        self._around = around
        self._run = run
        self._refused = refused

    def __getitem__(self, items: Any) -> Callable[..., Any]:
        if isinstance(self.kernel, ufuncs.ArrayFunction):
            raise errors.LaunchError(
                f"{self.name}: {self.kernel.__name__} configures its own launch: write "
                f"gpukit.{self.name}({self.kernel.__name__})(*arguments), without square brackets."
            )
        try:
            shape = configure.parse(items)
        except errors.LaunchError as refused:
            if self._refused is None:
                raise
            answer = self._delivered(self._refused(self.kernel, items, refused))
            return lambda *_arguments: answer
        return functools.partial(self._launch, shape)

    def _launch(self, shape: Any, /, *arguments: Any, **named: Any) -> Any:
        __tracebackhide__ = True
        if named:
            raise errors.ArgumentError(
                f"{self.name}: a kernel takes no keyword arguments, got {', '.join(named)}. "
                f"Write {self._example()} with all arguments in order."
            )
        try:
            return _on_the_host(self._run_and_notify, self.kernel, shape, arguments)
        except errors.GpukitError as error:
            raise failure.at_line(error) from error.__cause__
        except KeyboardInterrupt as stopped:
            words = f"{self.name} of {self.kernel.py_func.__name__} was stopped by Ctrl-C"
            raise interrupts.brief(instrumented.in_words(stopped), words) from None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if isinstance(self.kernel, ufuncs.ArrayFunction):
            return self._call(self.kernel.prepare(*arguments, **named))
        if self._function is not None and self._join is not None:
            return self._launches(self._join, *arguments, **named)
        raise errors.LaunchError(
            f"launch configuration was not specified: write {self._example()}, with square "
            "brackets before the arguments."
        )

    def _launches(self, join: Join, /, *arguments: Any, **named: Any) -> Any:
        """Call the function and return the command's result for all of its launches."""
        assert self._function is not None
        answers: list[Any] = []

        def run(kernel: Any, shape: Any, given: tuple[Any, ...]) -> None:
            answers.append(self._run(kernel, shape, given))

        around = self._around(answers) if self._around else contextlib.nullcontext()
        try:
            with observing(run), observing_gpu(self.name, run, threading.get_ident()), around:
                self._function(*arguments, **named)
        finally:
            answer = self._delivered(join(answers)) if answers else None
        if not answers:
            raise errors.LaunchError(
                f"{self.name}: {self._function.__name__} launched no kernel, so there is "
                f"nothing to check. If it is a kernel itself, write {self._example()}."
            )
        return answer

    def _run_and_notify(self, kernel: Any, shape: Any, given: tuple[Any, ...]) -> Any:
        answer = None
        try:
            with resolve.once():
                answer = self._run(kernel, shape, given)
        finally:
            self._delivered(answer)
        return answer

    def _delivered(self, answer: Any) -> Any:
        """Return the command's result, after passing it to the listeners."""
        for listener in _listeners:
            listener(self.name, answer)
        return answer

    def _call(self, call: ufuncs.Call) -> Any:
        if call.launch is None:
            raise errors.LaunchError(
                f"{self.name}: {self.kernel.__name__} was called with no elements, so there is "
                "nothing to check. Pass an array that is not empty."
            )
        launch = call.launch
        answer = self._run_and_notify(launch.kernel, launch.shape, tuple(call.arguments))
        call.finish()
        return answer

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Any:
        """Return the kernel configured for at least `ntasks` threads in one dimension."""
        if ntasks < 1:
            raise errors.LaunchError(
                f"{self.name}: forall({ntasks}) starts no threads, so there is nothing to check. "
                "Pass the number of elements, 1 or more."
            )
        return dispatcher.ForAll(self, ntasks, tpb, stream, sharedmem)

    def _example(self) -> str:
        return f"gpukit.{self.name}({self.kernel.py_func.__name__})[blocks, threads](...)"


def _kernel_of(name: str, kernel: Any) -> Any:
    """Return a kernel of the CPU target for a kernel of any target, or for a plain function.

    Array functions of this target are returned as they are.
    """
    if isinstance(kernel, (dispatcher.Kernel, ufuncs.ArrayFunction)):
        return kernel
    function = getattr(kernel, "py_func", kernel)
    function = getattr(function, "__func__", function)  # of a method
    if not inspect.isfunction(function):
        raise errors.ArgumentError(
            f"{name}: expected a kernel made with @cuda.jit, got {kernel!r}. Write "
            f"gpukit.{name}(kernel)[blocks, threads](*arguments)."
        )
    given = getattr(kernel, "targetoptions", {})
    options = {k: v for k, v in given.items() if k in ("fastmath", "debug", "extensions")}
    return dispatcher.Kernel(function, [], options)


def _on_the_host(run: Run, kernel: Any, shape: Any, arguments: tuple[Any, ...]) -> Any:
    """Run a launch on copies of its arrays in GPU memory, and copy back what it wrote."""
    moved = {id(a): (a, _device_view(a).copy_to_host()) for a in arguments if _on_gpu(a)}
    answer = run(kernel, shape, tuple(moved[id(a)][1] if id(a) in moved else a for a in arguments))
    for array, copy in moved.values():
        _device_view(array).copy_to_device(copy)
    return answer


def _on_gpu(argument: Any) -> bool:
    """Tell whether an argument is an array in GPU memory, which only the GPU can read."""
    known = getattr(argument, "__cuda_array_interface__", None)
    if known is None or isinstance(argument, DeviceNDArray) or not intrinsics.installed():
        return False
    return allocations.owner_of(known["data"][0]) is None


def _device_view(argument: Any) -> Any:
    """Return an array in GPU memory, of any library, as numba-cuda's."""
    return intrinsics.installed()[0].as_cuda_array(argument)
