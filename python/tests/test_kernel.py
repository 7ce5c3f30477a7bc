"""Kernels on NumPy arrays: values, places, results."""

import gc
import inspect
import threading
import weakref

import numpy as np
import pytest
from conftest import SAXPY

import vyre

TWO = """
program two(x: buffer<f32>, sum: out buffer<f32>[len(x)], n: u32, first: out buffer<u32>[n])
over x {
    sum[gid] = x[gid] + 1.0;
    if gid < n { first[gid] = gid; }
}"""


def test_inout_changes_in_place(saxpy, device):
    x = np.arange(1000, dtype=np.float32)
    y = np.ones(1000, np.float32)
    address = y.ctypes.data
    assert saxpy(2.0, x, y, device=device) is None
    assert y.ctypes.data == address
    np.testing.assert_array_equal(y, x * 2 + 1)


def test_auto_chooses_a_device(saxpy):
    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    saxpy(2.0, x, y)
    assert (y == 3).all()


def test_arguments_by_name(saxpy, device):
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    saxpy(y=y, a=2, x=x, device=device)
    assert (y == 3).all()


def test_one_output_is_made_and_returned(device):
    k = vyre.kernel(
        "program f(x: buffer<i32>, y: out buffer<i64>[len(x)]) over x { y[gid] = i64(x[gid]); }"
    )
    y = k(np.arange(-3, 3, dtype=np.int32), device=device)
    assert y.dtype == np.int64
    assert y.tolist() == [-3, -2, -1, 0, 1, 2]


def test_several_outputs_are_a_named_tuple(device):
    result = vyre.kernel(TWO)(np.zeros(5, np.float32), 3, device=device)
    assert result._fields == ("sum", "first")
    assert result.sum.tolist() == [1] * 5
    assert result.first.tolist() == [0, 1, 2]


def test_outputs_that_are_given_are_returned(device):
    k = vyre.kernel(TWO)
    x, total, first = np.zeros(5, np.float32), np.empty(5, np.float32), np.empty(3, np.uint32)
    for result in (
        k(x, total, 3, first, device=device),
        k(x, 3, out=(total, first), device=device),
        k(x, 3, sum=total, first=first, device=device),
    ):
        assert result.sum is total
        assert result.first is first
    assert k(x, 3, out=(total, None), device=device).sum is total


def test_out_memory_is_zero_where_nothing_is_stored(device):
    k = vyre.kernel("program f(n: u32, y: out buffer<u32>[n]) over 1 { y[0] = 7; }")
    y = np.full(4, 9, np.uint32)
    assert k(4, out=y, device=device).tolist() == [7, 0, 0, 0]


def test_shapes_are_kept(device):
    k = vyre.kernel(
        "program f(x: buffer<u8>, y: out buffer<u8>[len(x)]) over x { y[gid] = x[gid]; }"
    )
    x = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    y = k(x, device=device)
    np.testing.assert_array_equal(x, y)
    assert k(np.zeros((0, 3), np.uint8), device=device).shape == (0, 3)


def test_inputs_that_are_not_contiguous_are_copied(saxpy, device):
    x = np.arange(20, dtype=np.float32)
    for view in (x[::2], x[::-2], x.reshape(10, 2).T[1], np.asfortranarray(x.reshape(2, 10))[1]):
        y = np.zeros(10, np.float32)
        before = view.copy()
        saxpy(1.0, view, y, device=device)
        np.testing.assert_array_equal(y, before)


def test_inputs_that_overlap_what_is_written_are_copied(device):
    k = vyre.kernel(
        "program f(x: buffer<f32>, y: inout buffer<f32>) over y { y[gid] = x[len(x) - 1 - gid]; }"
    )
    y = np.arange(6, dtype=np.float32)
    k(y, y, device=device)
    assert y.tolist() == [5, 4, 3, 2, 1, 0]
    k(y[1:5], y[:4], device=device)
    assert y.tolist() == [1, 2, 3, 4, 1, 0]


def test_written_arrays_must_not_overlap():
    k = vyre.kernel(
        "program f(x: inout buffer<f32>, y: inout buffer<f32>) over x { x[gid] = y[gid]; }"
    )
    x = np.zeros(4, np.float32)
    with pytest.raises(ValueError, match=r"`x`.*`y`|`y`.*`x`"):
        k(x, x, device="cpu")


def test_read_only_inputs_are_read(saxpy, device):
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    x.flags.writeable = False
    saxpy(1.0, x, y, device=device)
    assert (y == 1).all()


def test_other_buffers_are_accepted(device):
    k = vyre.kernel("program f(x: inout buffer<u8>) over x { x[gid] = x[gid] + 1; }")
    x = bytearray(b"abc")
    k(x, device=device)
    assert x == b"bcd"


@pytest.mark.parametrize(
    "kind, dtype",
    [
        ("i8", "int8"),
        ("u8", "uint8"),
        ("i16", "int16"),
        ("u16", "uint16"),
        ("i32", "int32"),
        ("u32", "uint32"),
        ("i64", "int64"),
        ("u64", "uint64"),
        ("f16", "float16"),
        ("f32", "float32"),
        ("f64", "float64"),
    ],
)
def test_every_type_has_a_dtype(kind, dtype, device):
    k = vyre.kernel(
        f"program f(v: {kind}, x: buffer<{kind}>, y: out buffer<{kind}>[len(x)], "
        f"z: out buffer<{kind}>[1]) over x {{ y[gid] = x[gid]; if gid == 0 {{ z[0] = v; }} }}"
    )
    x = np.array([0, 1, 1], dtype)
    y, z = k(x[1], x, device=device)
    assert y.dtype == x.dtype
    assert y.tobytes() == x.tobytes()
    assert z.tobytes() == x[1:2].tobytes()


def test_bfloat16(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    k = vyre.kernel(
        "program f(a: bf16, x: buffer<bf16>, y: out buffer<bf16>[len(x)]) over x "
        "{ y[gid] = a * x[gid]; }"
    )
    x = np.array([1, 2, 3], ml_dtypes.bfloat16)
    y = k(2, x, device=device)
    assert y.dtype == ml_dtypes.bfloat16
    assert y.tolist() == [2, 4, 6]
    with pytest.raises(vyre.ArgumentTypeError, match="uint16, and the kernel needs bfloat16"):
        k(2, x.view(np.uint16), device=device)


BODY = """
struct Body { place: vec3<f32>, mass: f64, kind: u8 }
program heavier(bodies: inout buffer<Body>) over bodies {
    bodies[gid].mass = bodies[gid].mass * 2.0;
    bodies[gid].place.y = 5.0;
}"""


def test_structs_are_structured_dtypes(device):
    fields = [("place", np.float32, 3), ("mass", np.float64), ("kind", np.uint8)]
    bodies = np.zeros(3, np.dtype(fields, align=True))
    bodies["mass"] = [1, 2, 3]
    bodies["kind"] = 7
    vyre.kernel(BODY)(bodies, device=device)
    assert bodies["mass"].tolist() == [2, 4, 6]
    assert bodies["place"].tolist() == [[0, 5, 0]] * 3
    assert bodies["kind"].tolist() == [7, 7, 7]
    with pytest.raises(vyre.ArgumentTypeError, match="align=True"):
        vyre.kernel(BODY)(np.zeros(3, fields), device=device)
    wrong = np.zeros(3, np.dtype([("place", np.int32, 3), *fields[1:]], align=True))
    with pytest.raises(vyre.ArgumentTypeError, match="structured dtype"):
        vyre.kernel(BODY)(wrong, device=device)


def test_outputs_have_the_dimensions_of_their_declaration(device):
    k = vyre.kernel(
        "program f(h: u32, w: u32, x: buffer<f32>, y: out buffer<f32>[h][w], "
        "z: out buffer<vec2<f32>>[2][h][w], flat: out buffer<u32>[h * w], "
        "like: out buffer<f32>[len(x)]) over y {"
        " y[gid.y][gid.x] = f32(gid.x + 10u * gid.y); z[1][gid.y][gid.x] = vec2(1.0, 2.0);"
        " flat[gid.y * w + gid.x] = gid.x; like[0] = x[0]; }"
    )
    x = np.ones((2, 2), np.float32)
    here = vyre.Device(device)
    for made in (k(3, 4, x, device=device), k(3, 4, here.array(x))):
        assert made.y.shape == (3, 4)
        assert made.z.shape == (2, 3, 4, 2)
        assert made.flat.shape == (12,)
        assert made.like.shape == (2, 2)
        y, z = np.asarray(made.y), np.asarray(made.z)
        assert y.tolist() == [[column + 10 * row for column in range(4)] for row in range(3)]
        assert (z[0] == 0).all()
        assert (z[1] == [1, 2]).all()
    assert k(0, 4, x, device=device).y.shape == (0, 4)
    given = np.empty(12, np.float32)
    assert k(3, 4, x, y=given, device=device).y is given


def test_sides_beyond_an_address_space_are_refused(device):
    k = vyre.kernel("program f(h: u64, w: u64, y: out buffer<u8>[h][w]) over y { }")
    for sides in ((1 << 63, 0), (0, (1 << 64) - 1)):
        with pytest.raises(vyre.InvalidArgumentError, match=r"`y` has a side of \d+ elements"):
            k(*sides, device=device)


def test_vectors_are_a_last_dimension(device):
    k = vyre.kernel(
        "program f(x: buffer<vec3<f32>>, y: out buffer<vec3<f32>>[len(x)]) over x "
        "{ y[gid] = x[gid] + x[gid]; }"
    )
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    y = k(x, device=device)
    np.testing.assert_array_equal(y, x + x)


def test_kernels_of_files(tmp_path, device):
    (tmp_path / "part.vyre").write_text("fn twice(x: f32) -> f32 { return x + x; }\n")
    file = tmp_path / "whole.vyre"
    file.write_text(
        'use "part.vyre";\n'
        "program a(x: inout buffer<f32>) over x { x[gid] = twice(x[gid]); }\n"
        "program b<T>(x: inout buffer<T>) over x { x[gid] = x[gid] + x[gid]; }\n"
    )
    x = np.ones(2, np.float32)
    vyre.kernel(file, program="a")(x, device=device)
    vyre.kernel(str(file), program="b<f32>")(x, device=device)
    assert x.tolist() == [4, 4]


def test_many_arguments(device):
    names = [f"a{i}" for i in range(60)]
    arguments = ", ".join(f"{name}: u32" for name in names)
    k = vyre.kernel(
        f"program f({arguments}, y: out buffer<u32>[1]) over 1 {{ y[0] = {' + '.join(names)}; }}"
    )
    assert k(*range(60), device=device)[0] == sum(range(60))


def test_prints_go_to_stdout(device, capsys):
    k = vyre.kernel('program f(x: buffer<u32>) over x { print("x is {}", x[gid]); }')
    k(np.array([4, 5], np.uint32), device=device)
    assert capsys.readouterr().out == "x is 4\nx is 5\n"


def test_kernels_describe_themselves(saxpy):
    assert saxpy.name == "saxpy"
    assert saxpy.text == SAXPY
    assert len(saxpy.digest) == 32
    assert saxpy.arguments == (("a", "scalar", "f32"), ("x", "in", "f32"), ("y", "inout", "f32"))
    assert "y: inout buffer<f32>" in repr(saxpy)
    assert str(inspect.signature(saxpy)) == "(a, x, y, *, out=None, device=None, timeout=None)"
    assert saxpy.__name__ == "saxpy"


def test_threads_share_a_kernel(saxpy, device):
    def work(number):
        x, y = np.full(64, number, np.float32), np.zeros(64, np.float32)
        for _ in range(50):
            saxpy(1.0, x, y, device=device)
        results[number] = y

    results = {}
    threads = [threading.Thread(target=work, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(32):
        assert (results[number] == 50 * number).all()


def resident_kib():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4


def test_kernels_that_are_dropped_leave_nothing():
    def make(count):
        for _ in range(count):
            vyre.kernel(SAXPY)

    make(2000)
    gc.collect()
    before = resident_kib()
    make(10000)
    gc.collect()
    assert resident_kib() - before < 2048
    k = vyre.kernel(SAXPY)
    watched = weakref.ref(k)
    del k
    assert watched() is None


def test_calls_leave_nothing(saxpy):
    import sys

    x, y = np.ones(16, np.float32), np.ones(16, np.float32)
    k = vyre.kernel(TWO)

    def calls(count):
        for _ in range(count):
            saxpy(2.0, x, y, device="reference")
            k(x, 3, device="reference")
            for bad in ((2.0, x.astype(float), y), (1e99, x, y), (1.0, [1], y), (1.0,)):
                with pytest.raises(vyre.Error):
                    saxpy(*bad, device="reference")

    calls(50)
    counts = [sys.getrefcount(item) for item in (x, y, saxpy, k, None)]
    before = resident_kib()
    calls(500)
    after = [sys.getrefcount(item) for item in (x, y, saxpy, k, None)]
    assert counts[:4] == after[:4]
    assert resident_kib() - before < 1024
