"""LLVM of llvmlite for the cpu device."""

import subprocess
import sys

import pytest

from vyre import _llvm


def test_llvmlite_is_found_where_it_is_installed(tmp_path, monkeypatch):
    folder = tmp_path / "llvmlite" / "binding"
    folder.mkdir(parents=True)
    (tmp_path / "llvmlite" / "__init__.py").write_text("raise RuntimeError('it is not imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert _llvm.find_llvmlite() is None
    (folder / "libllvmlite.so").write_bytes(b"")
    assert _llvm.find_llvmlite() == str(folder / "libllvmlite.so")


def test_importing_looks_for_nothing():
    code = "import sys, vyre; assert 'vyre._llvm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_cpu_device_says_which_llvm_it_uses():
    import vyre

    info = vyre.info()
    if "Fix: " in info.devices["cpu"]:
        pytest.skip("this machine has no LLVM")
    assert info.llvm.startswith("LLVM ")
