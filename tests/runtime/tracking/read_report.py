"""read_report.py REPORT: checks that the page is whole and asks for nothing outside; prints what it shows."""
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser

EMPTY = {"meta", "!doctype"}
page = open(sys.argv[1], encoding="utf-8").read()


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            assert name not in ("src", "href", "action") and not name.startswith("on"), (tag, name, value)
        assert tag not in ("link", "iframe", "img"), tag
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("h1", "h2", "p", "span", "th", "td") and data.strip():
            self.texts.append((self.open[-1], data))


reader = Page()
reader.feed(page)
reader.close()
assert not reader.open, reader.open
addresses = set(re.findall(r"https?:[^'\"<\s]*", page))
assert addresses <= {"http://www.w3.org/2000/svg"}, addresses  # a name, which nothing fetches

for svg in re.findall(r"<svg.*?</svg>", page, re.S):
    tree = ElementTree.fromstring(svg)
    numbers = [float(n) for e in tree.iter() for a in ("x1", "x2", "y1", "y2", "x", "y", "cx", "cy") if (n := e.get(a))]
    numbers += [float(n) for e in tree.iter("path") for n in re.findall(r"-?[\d.]+(?:e-?\d+)?", e.get("d"))]
    assert all(0 <= n <= 440 for n in numbers), numbers
    print("picture", tree.get("aria-label"), sorted({e.get("class") for e in tree.iter() if e.get("class")}))
for kind, text in reader.texts:
    print(kind, repr(text))
json.loads(re.search(r'id="muster-report">(.*?)</script>', page, re.S)[1])
