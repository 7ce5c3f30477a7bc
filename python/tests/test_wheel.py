"""The wheels: their size, what they need of a machine, and the command in them."""

import pathlib
import subprocess
import sys
import sysconfig
import venv
import zipfile

import numpy
import pytest
from pages import ROOT, read_blocks

import vyre

EMULATED = "wheel-aarch64"


def find_wheel(folder):
    (wheel,) = (ROOT / "build" / folder).glob("*.whl")
    return wheel


@pytest.fixture(params=["wheel", pytest.param(EMULATED, marks=pytest.mark.aarch64)])
def wheel(request):
    return find_wheel(request.param)


def tool(*arguments):
    return subprocess.run(
        [sys.executable, "-m", *arguments], check=True, capture_output=True, text=True, timeout=120
    ).stdout


def test_there_is_one_wheel_for_all_pythons_from_3_11(wheel):
    assert "-cp311-abi3-manylinux_2_34_" in wheel.name
    assert wheel.stat().st_size <= 3_000_000


def test_free_threaded_pythons_do_not_take_the_wheel(wheel):
    tags = pytest.importorskip("packaging.tags")
    platform = wheel.stem.split("-")[-1]

    def taken(abi):
        return {str(tag) for tag in tags.cpython_tags((3, 13), [abi], [platform])}

    assert f"cp311-abi3-{platform}" in taken("cp313")
    assert f"cp311-abi3-{platform}" not in taken("cp313t")


def test_auditwheel_agrees_with_the_platform_tag(wheel):
    platform = wheel.stem.split("-")[-1]
    shown = " ".join(tool("auditwheel", "show", str(wheel)).split())
    assert f'is consistent with the following platform tag: "{platform}"' in shown


def test_abi3audit_finds_nothing(wheel):
    assert "violation" not in tool("abi3audit", "--strict", str(wheel))


def test_the_wheel_has_the_library_the_command_and_types(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    for end in ("vyre/py.typed", "vyre/_vyre.pyi", "vyre/_vyre.abi3.so", "scripts/vyre"):
        assert any(name.endswith(end) for name in names), end
    assert sum("libvyre" in name for name in names) == 1


def test_the_wheel_has_the_licences_of_all_code_in_it(wheel):
    names = [pathlib.Path(name).name for name in zipfile.ZipFile(wheel).namelist()]
    for licence in ("LICENSE-MIT", "LICENSE-APACHE", "LICENSE-XXHASH"):
        assert licence in names


def test_the_command_is_installed():
    command = pathlib.Path(sysconfig.get_path("scripts")) / "vyre"
    shown = subprocess.run([command, "--version"], check=True, capture_output=True, text=True)
    assert shown.stdout == f"vyre {vyre.__version__}\n"


def test_importing_does_not_import_numpy():
    code = "import sys, vyre; assert 'numpy' not in sys.modules and 'ml_dtypes' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_readme_runs_in_a_new_environment_without_a_compiler(tmp_path):
    """Only NumPy is there, as a link: pip may have no network to fetch it."""
    place = tmp_path / "venv"
    venv.create(place, symlinks=True)
    (packages,) = place.glob("lib/python3*/site-packages")
    for part in pathlib.Path(numpy.__file__).parents[1].glob("numpy*"):
        (packages / part.name).symlink_to(part)
    pip = [sys.executable, "-m", "pip", "--python", place / "bin" / "python", "install", "-q"]
    subprocess.run([*pip, "--no-index", find_wheel("wheel")], check=True)
    readme = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
    example = readme.split("```python\n")[1].split("```")[0]
    code = f"{example}\nassert y.tolist() == [3] * 4\nsaxpy(2.0, x, y, device='cpu')\n"
    code += f"assert vyre.__file__.startswith({str(packages)!r})\n"
    nowhere = {"PATH": str(tmp_path / "nowhere"), "HOME": str(tmp_path)}
    nowhere |= {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for command in (["python", "-c", code], ["vyre", "--version"]):
        command[0] = place / "bin" / command[0]
        subprocess.run(command, check=True, env=nowhere, timeout=60)


@pytest.mark.aarch64
def test_the_readme_runs_on_aarch64(tmp_path):
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    pip += ["--platform", "manylinux_2_34_aarch64", "--only-binary", ":all:"]
    subprocess.run([*pip, "--target", tmp_path, find_wheel(EMULATED)], check=True)
    root = ROOT / "build" / "arm64" / "root"
    # Debian's NumPy finds these two libraries by links that only an installation makes.
    libraries = [f"/usr/lib/aarch64-linux-gnu/{name}" for name in ("blas", "lapack")]
    environment = {"LD_LIBRARY_PATH": ":".join(libraries), "PYTHONPATH": str(tmp_path)}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    options = [option for entry in environment.items() for option in ("-E", "=".join(entry))]

    def emulate(*command):
        command = ["qemu-aarch64", "-L", root, *options, *command]
        return subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, timeout=300
        ).stdout

    ((_, _, example, printed),) = read_blocks("README.md")
    example += "saxpy(2.0, x, y, device='reference')\nimport platform\n"
    example += "print(y.tolist(), platform.machine(), vyre.__file__)\n"
    printed += f"[1.0, 7.0, 13.0, 19.0] aarch64 {tmp_path}/vyre/__init__.py\n"
    assert emulate(root / "usr/bin/python3.11", "-c", example) == printed
    assert emulate(tmp_path / "bin/vyre", "--version") == f"vyre {vyre.__version__}\n"
