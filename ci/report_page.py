"""The page that report.py makes of its table: one file, which asks for no other."""
import os

import jinja2

HERE = os.path.dirname(os.path.abspath(__file__))


def write(table, path):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    text = environment.get_template("report_page.html").render(table=table)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
