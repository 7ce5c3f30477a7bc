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
