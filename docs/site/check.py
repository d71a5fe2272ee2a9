"""Check the built site: every link inside leads somewhere, and no page fetches anything from another server."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

SITE = Path(__file__).parents[2] / "build" / "site"
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "srcset"}
"""The attribute of an element whose address a browser fetches by itself."""

LAZY = {"canonical", "next", "prev"}
"""Kinds of `link` that a browser does not fetch."""


@dataclass
class Addresses(HTMLParser):
    """The addresses in a page that are links, those that are fetched with it, and the names of its parts."""

    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the addresses and the name of one element.

        Args:
            tag: The element's name.
            attrs: Its attributes.
        """
        values = {name: value or "" for name, value in attrs}
        self.names |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag in LOADED and LOADED[tag] in values and values.get("rel") not in LAZY:
            self.loaded.append(values[LOADED[tag]])


def read(page: Path) -> Addresses:
    """Return the addresses in a page.

    Args:
        page: An HTML file.

    Returns:
        Links, addresses that are fetched, and names.
    """
    addresses = Addresses()
    addresses.feed(page.read_text(encoding="utf-8"))
    return addresses


def faults(site: Path) -> list[str]:
    """Return what is wrong with a site.

    Args:
        site: The folder of the site.

    Returns:
        One sentence for each fault.
    """
    pages = {page.resolve(): read(page) for page in sorted(site.rglob("*.html"))}
    return [fault for page in pages for fault in _faults_of(page, pages, site.resolve())]


def _faults_of(page: Path, pages: dict[Path, Addresses], site: Path) -> Iterator[str]:
    name = page.relative_to(site)
    for address in pages[page].loaded:
        if urlsplit(address).netloc:
            yield f"{name} fetches {address} from another server."
        elif not _target(page, address, site).is_file():
            yield f"{name} fetches {address}, which does not exist."
    for address in pages[page].links:
        if urlsplit(address).scheme or urlsplit(address).netloc:
            continue
        target, part = _target(page, address, site), unquote(urldefrag(address).fragment)
        if not target.is_file():
            yield f"{name} links to {address}, which does not exist."
        elif part and target in pages and part not in pages[target].names:
            yield f"{name} links to {address}, but the page has no part of this name."


def _target(page: Path, address: str, site: Path) -> Path:
    path = unquote(urlsplit(address).path)
    if path.startswith("/"):
        return site / path.removeprefix("/")
    target = (page.parent / path).resolve() if path else page
    return target / "index.html" if target.is_dir() else target


def main(site: Path = SITE) -> int:
    """Print the faults of a site.

    Args:
        site: The folder of the site.

    Returns:
        The exit code: 1 if there is a fault.
    """
    wrong = faults(site)
    pages = len(list(site.rglob("*.html")))
    print(*wrong, f"{pages} pages, {len(wrong)} faults", sep="\n")
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
