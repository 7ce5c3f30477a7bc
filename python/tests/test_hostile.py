"""What a careless caller tries: wrong dtypes, names, numbers, copies and interpreters."""

import copy
import ctypes
import pickle
import subprocess
import sys

import numpy as np
import pytest

import vyre

X = np.ones(4, np.float32)


@pytest.fixture
def place(device):
    return vyre.Device(device)


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("dtype", [object, [("a", object)], [("a", "f4"), ("b", object)], []])
def test_objects_do_not_go_to_a_device(place, dtype):
    with pytest.raises(TypeError, match="kernels have no type like"):
        place.empty(2, dtype)
    with pytest.raises(TypeError, match="kernels have no type like"):
        place.array(np.zeros(2, dtype))


def test_names_of_arguments_are_strings(saxpy):
    with pytest.raises(vyre.ArgumentTypeError, match="not a str"):
        saxpy(2.0, X, X.copy(), **{1: 2})
    with pytest.raises(vyre.ArgumentTypeError, match="no argument `aé"):
        saxpy(2.0, X, X.copy(), **{"a" + "é" * 1000: 1})


DELETE_LATE = """
import ctypes
import vyre
capsule = vyre.Device("reference").zeros(4).__dlpack__()
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
tensor = get(capsule, b"dltensor")
rename = ctypes.pythonapi.PyCapsule_SetName
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
name = b"used_dltensor"
rename(capsule, name)
deleter = ctypes.c_void_p.from_address(tensor + 56)  # after DLTensor and manager_ctx
at_exit = ctypes.CDLL(None).__cxa_atexit
at_exit.argtypes = [ctypes.c_void_p] * 3
assert not at_exit(deleter, tensor, None)
"""


def test_a_shared_tensor_may_outlive_python():
    run(DELETE_LATE)


def test_arrays_without_dimensions(place):
    for source in (5.0, np.float32(5), np.array(5, np.int32)):
        a = place.array(source)
        assert a.shape == ()
        assert a.numpy() == 5
        assert a.numpy().dtype == np.asarray(source).dtype
        assert a.copy_from(np.array(7, a.dtype)).numpy() == 7
    with pytest.raises(ValueError, match="shape"):
        a.copy_from(np.array([7], a.dtype))


def test_arrays_are_iterated_but_not_searched(place):
    a = place.array(np.arange(4, dtype=np.float32).reshape(2, 2))
    assert [part.numpy().tolist() for part in a] == [[0, 1], [2, 3]]
    with pytest.raises(TypeError, match="no length"):
        iter(place.array(5.0))
    with pytest.raises(TypeError):
        _ = 1.0 in a


@pytest.mark.parametrize("side", [2, 3])
def test_fill_takes_records(place, side):
    dtype = np.dtype([("a", "f4", side), ("b", "i8")], align=True)
    a = place.empty(2, dtype).fill(([7] * side, 5))
    assert (a.numpy()["a"] == 7).all()
    assert (a.numpy()["b"] == 5).all()
    assert a.fill(0).numpy().tobytes() == bytes(a.nbytes)
    with pytest.raises(ValueError):
        place.empty(2).fill([1, 2])


def test_arrays_without_elements_are_contiguous():
    a = vyre.from_dlpack(np.zeros((0, 4), np.float32)[:, ::2])
    assert a.shape == (0, 2)
    assert a.numpy().shape == (0, 2)


def test_a_stream_is_a_handle_and_its_owner():
    device = vyre.Device("reference")
    a = device.zeros(3)
    capsule = a.__dlpack__()
    for stream in ("x", ("x", None), 1):
        with pytest.raises(TypeError, match="argument"):
            vyre.Array.from_capsule(device, capsule, stream, False)
    assert vyre.Array.from_capsule(device, capsule, None, False).shape == (3,)  # it was not taken
    with pytest.raises(TypeError, match="argument"):
        vyre.Array.from_pointer(device, X.ctypes.data, True, (4,), "float32", False, 1, X)


def test_a_later_version_of_dlpack_is_refused():
    device = vyre.Device("reference")
    capsule = device.zeros(3).__dlpack__(max_version=(1, 0))
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    major = ctypes.c_uint32.from_address(get(capsule, b"dltensor_versioned"))
    major.value = 2
    with pytest.raises(ValueError, match=r"uses version 2 of DLPack, and vyre supports version 1"):
        vyre.Array.from_capsule(device, capsule, None, False)
    major.value = 1
    assert vyre.Array.from_capsule(device, capsule, None, False).shape == (3,)  # it was not taken


def test_constructors_know_their_keywords():
    text = "program f() over 1 {} program g() over 1 {}"
    assert vyre.Kernel(text, program="g").name == "g"
    with pytest.raises(TypeError, match="nonsense"):
        vyre.Kernel(text, nonsense="g")
    with pytest.raises(TypeError):
        vyre.Array(vyre.Device("reference"), (3,), "float32", 4, None, None, nonsense=1)


@pytest.mark.parametrize("index", ["x", (0, 1), ..., None, 1.5, [0]])
def test_wrong_indices_are_type_errors(place, index):
    with pytest.raises(vyre.ArgumentTypeError, match=r"a\[start:stop\]"):
        place.zeros((2, 3))[index]


def test_read_only_memory_is_not_changed():
    frozen = np.zeros(4, np.float32)
    frozen.flags.writeable = False
    a = vyre.from_dlpack(frozen)
    changes = [
        lambda: a.fill(1),
        lambda: a[1:3].fill(1),
        lambda: a.copy_from(X),
        lambda: a.copy_from(a.device.array(X)),
        lambda: vyre.from_dlpack(a).fill(1),
    ]
    for change in changes:
        with pytest.raises(vyre.InvalidArgumentError, match=r"is read-only.*device\.array"):
            change()
    assert not frozen.any()


def test_numbers_of_thousands_of_digits(saxpy):
    with pytest.raises(vyre.InvalidArgumentError, match="f32 cannot hold"):
        saxpy(10**5000, X, X.copy())


@pytest.mark.parametrize(
    "timeout, error", [("x", TypeError), ([], TypeError), (10**400, ValueError), (-1, ValueError)]
)
def test_a_timeout_is_a_number(saxpy, timeout, error):
    with pytest.raises(error, match="timeout is not") as caught:
        saxpy(2.0, X, X.copy(), timeout=timeout)
    assert isinstance(caught.value, vyre.Error)


def test_arrays_that_are_not_shared_are_named(saxpy):
    with pytest.raises(vyre.ArgumentTypeError, match=r"`x` is an array that cannot be shared \(DL"):
        saxpy(2.0, np.zeros(4, "M8[s]"), X.copy())


def test_a_generic_program_needs_types():
    text = "program f<T>(x: inout buffer<T>) over x { x[gid] = x[gid]; }"
    with pytest.raises(ValueError, match=r"not generic.*name<f32>"):
        vyre.kernel(text)
    assert vyre.kernel(text, program="f<f32>").name == "f<f32>"


def test_copies_and_pickles(saxpy):
    for item in (saxpy, vyre.Device("reference"), vyre.Device("reference").zeros(1)):
        for act in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot pickle"):
                act(item)
    for item in (vyre.ops.sort, vyre.ops.sort.keys_u32):
        for same in (copy.deepcopy(item), pickle.loads(pickle.dumps(item))):
            assert repr(same) == repr(item)
    with pytest.raises(vyre.ArgumentTypeError) as caught:
        saxpy([], X, X)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.fix) == (str(caught.value), caught.value.fix)


def test_results_are_copied_and_pickled():
    both = vyre.kernel(
        "program f(x: buffer<f32>, y: out buffer<f32>[len(x)], z: out buffer<f32>[1]) over x "
        "{ y[gid] = x[gid]; z[0] = x[0]; }"
    )
    results = both(X)
    for same in (copy.deepcopy(results), pickle.loads(pickle.dumps(results))):
        assert (same._fields, type(same).__name__) == (("y", "z"), "f_results")
        assert (same.y.tolist(), same.z.tolist()) == (results.y.tolist(), results.z.tolist())
    assert copy.copy(results).y is results.y


SUBINTERPRETER = """
import _xxsubinterpreters as interpreters
import vyre
code = '''
try:
    import vyre
except ImportError as error:
    assert "subinterpreter" in str(error), error
else:
    raise SystemError("imported")
'''
for isolated in (True, False):
    inner = interpreters.create(isolated=isolated)
    interpreters.run_string(inner, code)
    interpreters.destroy(inner)
vyre.kernel("program f() over 1 {}")(device="reference")
"""


def test_subinterpreters_are_refused():
    pytest.importorskip("_xxsubinterpreters")
    run(SUBINTERPRETER)


def test_the_module_may_be_imported_again():
    run("""
import sys
import vyre
kernel, kind = vyre.kernel("program f() over 1 {}"), vyre._vyre.Kernel
del sys.modules["vyre._vyre"], vyre._vyre
import vyre._vyre
assert vyre._vyre.Kernel is kind
kernel(device="reference")
""")
