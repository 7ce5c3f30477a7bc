"""The operations of the library: every one against the examples of its manifest."""

import inspect
import re

import numpy as np
import pytest

import vyre
from vyre import _vyre
from vyre._arrays import kind_dtype

NUMBERS = re.compile(r"-?[0-9.e+-]+(,-?[0-9.e+-]+)*|(true|false)")


def read(text, access, kind):
    if access == "scalar":
        if kind == "bool":
            return text == "true"
        return float(text) if "f" in kind else int(text)
    return np.array(text.split(","), np.float64 if "f" in kind else object).astype(kind_dtype(kind))


def cases():
    """Every example whose values are plain numbers."""
    for name in _vyre.operation_ids():
        for number, (arguments, expected) in enumerate(_vyre.operation(name)["witnesses"]):
            given = dict(line.split("=", 1) for line in arguments.splitlines())
            wanted = dict(line.split("=", 1) for line in expected.splitlines())
            if all(NUMBERS.fullmatch(text) for text in [*given.values(), *wanted.values()]):
                yield pytest.param(name, given, wanted, id=f"{name}-{number}")


CASES = list(cases())


def test_most_operations_have_a_case_here():
    assert len(_vyre.operation_ids()) >= 250
    assert len({case.values[0] for case in CASES}) >= 150


@pytest.mark.parametrize("name, given, wanted", CASES)
def test_operation(name, given, wanted):
    operation = vyre.ops
    for part in name.split("."):
        operation = getattr(operation, part)
    kinds = {argument: (access, kind) for argument, access, kind in operation.kernel.arguments}
    values = {argument: read(text, *kinds[argument]) for argument, text in given.items()}
    result = operation(**values, device="reference")
    outputs = [argument for argument, (access, _) in kinds.items() if access == "out"]
    results = dict(zip(outputs, [result] if len(outputs) == 1 else result or (), strict=True))
    for argument, text in wanted.items():
        access, kind = kinds[argument]
        found = results[argument] if access == "out" else values[argument]
        np.testing.assert_array_equal(found, read(text, access, kind))


def test_operations_are_found_and_described():
    assert "sort" in dir(vyre.ops)
    assert "keys_u32" in dir(vyre.ops.sort)
    sort = vyre.ops.sort.keys_u32
    assert sort is vyre.ops.sort.keys_u32
    assert sort.__name__ == "keys_u32"
    assert "sort.keys_u32(keys" in sort.__doc__
    assert next(iter(inspect.signature(sort).parameters)) == "keys"
    assert "<pre>" in sort._repr_html_()
    assert "keys_u32" in repr(vyre.ops.sort)
    with pytest.raises(AttributeError, match=r"sort\.nothing"):
        _ = vyre.ops.sort.nothing
    with pytest.raises(AttributeError):
        _ = vyre.ops.nothing


def test_every_operation_has_a_docstring_and_a_signature():
    for name in _vyre.operation_ids():
        operation = vyre.ops.Operation(name)
        assert name in operation.__doc__
        assert inspect.signature(operation).parameters


def test_sort_of_many_keys():
    keys = np.random.default_rng(1).integers(0, 2**32, 10000, np.uint32)
    np.testing.assert_array_equal(vyre.ops.sort.keys_u32(keys), np.sort(keys))


def test_functions_take_any_shape_and_numbers(device):
    a = np.arange(6, dtype=np.uint8).reshape(2, 3)
    result = vyre.ops.bitset.and_u8(a, 3, device=device)
    np.testing.assert_array_equal(result, a & 3)
    assert result.shape == (2, 3)
    np.testing.assert_array_equal(vyre.ops.bitset.and_u8(b=a, a=np.uint8(5), device=device), a & 5)
    out = np.empty((2, 3), np.uint8)
    assert vyre.ops.bitset.and_u8(a, a, out=out, device=device) is out
    assert vyre.ops.bitset.and_u8(6, 3, device=device) == 2


def test_functions_check_before_they_run():
    a = np.zeros((2, 3), np.uint8)
    with pytest.raises(ValueError, match="different shapes"):
        vyre.ops.bitset.and_u8(a, a.T.copy())
    with pytest.raises(ValueError, match="`b` is 256, which u8 cannot hold"):
        vyre.ops.bitset.and_u8(a, 256)
    with pytest.raises(TypeError, match="`b` has dtype int64"):
        vyre.ops.bitset.and_u8(a, a.astype(np.int64))
    with pytest.raises(TypeError, match="passed twice"):
        vyre.ops.bitset.and_u8(a, a=a)
    with pytest.raises(TypeError, match="is missing"):
        vyre.ops.bitset.and_u8(a)
