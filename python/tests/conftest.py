"""What tests share: each kernel runs on the oracle and, where there is LLVM, on the cpu device."""

import pytest

import vyre

SAXPY = """
program saxpy(a: f32, x: buffer<f32>, y: inout buffer<f32>) over y {
    y[gid] = fma(a, x[gid], y[gid]);
}"""


def has_device(name):
    try:
        vyre.kernel("program f() over 1 { }")(device=name)
    except vyre.UnavailableError:
        return False
    return True


@pytest.fixture(scope="session", params=["reference", "cpu", "cuda"])
def device(request):
    if not has_device(request.param):
        pytest.skip(f"this machine has no device {request.param}")
    return request.param


@pytest.fixture
def saxpy():
    return vyre.kernel(SAXPY)
