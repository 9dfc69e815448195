"""The pages of docs/integrating, whose code the tests run as relying parties would copy it."""

import pathlib
import re

FOLDER = pathlib.Path(__file__).parents[2] / "docs" / "integrating"
EXTENSIONS = {"python": "py", "javascript": "mjs", "sh": "sh"}


def blocks():
    """Each block of code as page, language and text."""
    for page in sorted(FOLDER.glob("*.md")):
        for language, text in re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
            yield page.stem, language, text


def extract(folder):
    """Writes each page's code to a file that is named for the page, as its code imports it: `merged_users.py`."""
    for page, language, text in blocks():
        with open(pathlib.Path(folder, f"{page.replace('-', '_')}.{EXTENSIONS[language]}"), "x") as file:
            file.write(text)
