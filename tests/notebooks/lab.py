"""JupyterLab on a workbook, driven in a real Chromium."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from gpukit.course import workbook
from tests.notebooks import running

SECONDS = 150


@contextlib.contextmanager
def serving(book):
    """Serve a workbook with the settings of `make lab`; yield the address of its lessons."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--allow-root", "--no-browser", f"--port={port}", "--IdentityProvider.token="]
    options += [f"--config={workbook.LAB_CONFIG}", "--LabApp.expose_app_in_browser=True"]
    home = {name: str(book.parent / name) for name in ("JUPYTER_DATA_DIR", "IPYTHONDIR")}
    lab = subprocess.Popen(
        [sys.executable, "-m", "jupyter", "lab", *options],
        cwd=book,
        env={**os.environ, **home, "PYTHONPATH": str(running.ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/api")
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks"
    finally:
        stop(lab)


def stop(lab):
    """Stop a Lab; shutting down its kernels first may take longer than a test should wait."""
    lab.terminate()
    try:
        lab.wait(timeout=30)
    except subprocess.TimeoutExpired:
        lab.kill()
        lab.wait()


def wait_for(url):
    for _ in range(120):
        try:
            urllib.request.urlopen(url).close()
            return
        except urllib.error.URLError:
            time.sleep(0.5)
    raise TimeoutError(url)


NOTEBOOK = "window.jupyterapp.shell.currentWidget"
CODE = f"[...{NOTEBOOK}.content.model.cells].filter(cell => cell.type === 'code')"


class Lesson:
    """A lesson in Lab, with the actions of a user."""

    def __init__(self, browser, address, name):
        self.name = name
        self.page = browser.new_page(viewport={"width": 1400, "height": 900})
        self.page.set_default_timeout(60_000)
        self.errors = []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{address}/{name}.ipynb?reset")
        self.wait_until_ready()

    def wait_until_ready(self):
        self.until("window.jupyterapp?.shell?.currentWidget")  # both are created during startup
        self.until(f"{NOTEBOOK}?.sessionContext?.session?.kernel?.status === 'idle'")

    def follow(self, file):
        """Click the link to a file of the project."""
        links = (
            f"[...{NOTEBOOK}.content.model.cells].findIndex(cell => cell.type === 'markdown' && "
        )
        name = file.rpartition("/")[2] if file.startswith("notebooks/") else f"../{file}"
        number = self.page.evaluate(
            f"link => {links} cell.sharedModel.source.includes(link))", name
        )
        self.page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'start')")
        self.page.locator(f"a[href*='{file.rpartition('/')[2]}']:visible").first.click()

    def until(self, condition):
        self.page.wait_for_function(condition, timeout=1000 * SECONDS)

    def run_all(self):
        self.page.evaluate("window.jupyterapp.commands.execute('runmenu:run-all')")
        self.until(f"{CODE}.every(cell => cell.executionCount)")
        self.until(f"{NOTEBOOK}.sessionContext.session.kernel.status === 'idle'")

    def run(self, code):
        """Run the first cell, with the imports, and the cell whose code contains some text."""
        first = self.show("import gpukit")
        for number in (first, self.show(code)):
            self.page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = {number}")
            self.page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
            self.until(f"{NOTEBOOK}.content.model.cells.get({number}).executionCount")
        self.show(code)

    def show(self, code):
        """Scroll to the cell whose code contains some text, and return its number."""
        find = f"[...{NOTEBOOK}.content.model.cells].findIndex(cell => cell.type === 'code' && "
        number = self.page.evaluate(f"text => {find} cell.sharedModel.source.includes(text))", code)
        assert number >= 0, code
        self.page.evaluate(f"{NOTEBOOK}.content.activeCellIndex = {number}")
        self.page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'start')")
        self.page.wait_for_timeout(1500)
        return number

    def raised(self):
        """Return the names of the errors in cells."""
        outputs = f"{CODE}.flatMap(cell => cell.sharedModel.outputs)"
        return self.page.evaluate(
            f"{outputs}.filter(o => o.output_type === 'error').map(o => o.ename + o.evalue)"
        )
