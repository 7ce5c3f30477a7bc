"""The pages and notebooks for Python: every block of code runs and prints what the page says."""

import ast
import importlib.util
import json

import pytest
from conftest import has_device
from pages import PAGES, ROOT, read_blocks, read_needy, run

NOTEBOOKS = sorted(path.name for path in (ROOT / "python" / "notebooks").glob("*.ipynb"))


def run_cell(code, name, namespace):
    """Run a cell, and show the value of its last expression as Jupyter does."""
    tree = ast.parse(code, name)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        assert repr(value)
        if hasattr(value, "_repr_html_"):
            assert value._repr_html_().startswith("<")


def skip_without(needs):
    for need in needs:
        is_there = has_device(need) if need == "cuda" else importlib.util.find_spec(need)
        if not is_there:
            pytest.skip(f"there is no {need} here")


def skip_without_device():
    if not has_device("cpu") and not has_device("cuda"):
        pytest.skip("this machine has neither the device cpu nor cuda")


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    skip_without_device()
    monkeypatch.chdir(tmp_path)
    namespace = {}
    blocks = [block for block in read_blocks(page) if not block[1]]
    assert blocks, f"{page} has no code to run"
    for line, _, code, shown in blocks:
        printed = run(code, page, line, namespace)
        if shown is not None:
            assert printed.rstrip("\n") == shown.rstrip("\n"), f"{page}:{line + 1}"


NEEDY = read_needy()


@pytest.mark.filterwarnings("default")  # other libraries warn as they like
@pytest.mark.parametrize(
    ("page", "line", "needs", "code"), NEEDY, ids=[f"{page}:{line}" for page, line, *_ in NEEDY]
)
def test_a_block_that_needs_more_runs(page, line, needs, code):
    skip_without(needs)
    run(code, page, line, {})


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name, tmp_path, monkeypatch):
    skip_without_device()
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((ROOT / "python" / "notebooks" / name).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    namespace = {}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"{name} has stored output. Fix: clear it"
            run_cell("".join(cell["source"]), f"{name}, cell {number}", namespace)
