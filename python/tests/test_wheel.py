"""The wheel: its size, what it needs of a machine, and the command in it."""

import pathlib
import subprocess
import sys
import sysconfig
import zipfile

import vyre

WHEELS = list((pathlib.Path(__file__).parents[2] / "build" / "wheel").glob("*.whl"))


def tool(*arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments], check=True, capture_output=True, text=True, timeout=120
    ).stdout


def test_there_is_one_wheel_for_all_pythons_from_3_11():
    (wheel,) = WHEELS
    assert "-cp311-abi3-manylinux_2_34_" in wheel.name
    assert wheel.stat().st_size <= 3_000_000


def test_auditwheel_agrees_with_the_platform_tag():
    (wheel,) = WHEELS
    platform = wheel.stem.split("-")[-1]
    shown = " ".join(tool("auditwheel", "show", str(wheel)).split())
    assert f'is consistent with the following platform tag: "{platform}"' in shown


def test_abi3audit_finds_nothing():
    assert "violation" not in tool("abi3audit", "--strict", str(WHEELS[0]))


def test_the_wheel_has_the_library_the_command_and_types():
    names = zipfile.ZipFile(WHEELS[0]).namelist()
    for end in ("vyre/py.typed", "vyre/_vyre.pyi", "vyre/_vyre.abi3.so", "scripts/vyre"):
        assert any(name.endswith(end) for name in names), end
    assert sum("libvyre" in name for name in names) == 1


def test_the_command_is_installed():
    command = pathlib.Path(sysconfig.get_path("scripts")) / "vyre"
    shown = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    assert shown.stdout == f"vyre {vyre.__version__}\n"


def test_importing_does_not_import_numpy():
    code = "import sys, vyre; assert 'numpy' not in sys.modules and 'ml_dtypes' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_readme_runs_without_a_compiler(tmp_path):
    readme = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    example = readme.split("```python\n")[1].split("```")[0]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", tmp_path, WHEELS[0]], check=True)
    code = f"{example}\nassert y.tolist() == [3] * 4\nsaxpy(2.0, x, y, device='cpu')\n"
    code += f"assert vyre.__file__.startswith({str(tmp_path)!r})\n"
    nowhere = {"PATH": str(tmp_path / "nowhere"), "PYTHONPATH": str(tmp_path)}
    nowhere |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], check=True, env=nowhere, timeout=60)
