"""Tables for people: numbers with their errors, noise in words, Markdown and LaTeX."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dpnoise.noise import Noise


def number(value: float, se: float | None = None) -> str:
    """Value, or value ± error, with the digits that its error supports; '-' if it is not finite."""
    if not np.isfinite(value):
        return "-"
    if se is None or not np.isfinite(se):
        return f"{value:.4g}"
    if se == 0:
        return f"{value:.4g} ± 0"
    places = int(np.clip(1 - np.floor(np.log10(se)), 0, 12))
    return f"{value:.{places}f} ± {se:.{places}f}"


def parameters(noise: Noise) -> dict[str, float]:
    """Parameters of a noise by name."""
    return {field.name: getattr(noise, field.name) for field in fields(noise)}


def describe(noise: Noise) -> str:
    """Parameters of a noise as 'alpha=0.5, gamma=2'."""
    return ", ".join(f"{name}={value:.6g}" for name, value in parameters(noise).items())


def markdown(title: str, note: str, table: pd.DataFrame) -> str:
    """Page with a title, a note and a table of texts, whose cells are written as they stand."""
    return f"# {title}\n\n{note}\n\n{markdown_table(table)}\n"


def markdown_table(table: pd.DataFrame) -> str:
    """Table of texts in Markdown, whose cells are written as they stand."""
    return str(table.to_markdown(index=False, tablefmt="github", disable_numparse=True))


def latex(table: pd.DataFrame) -> str:
    """Table of texts as LaTeX, with 'epsilon' and '±' typeset in cells without a dollar sign."""

    def typeset(text: str) -> str:
        return (
            text if "$" in text else text.replace("epsilon", r"$\epsilon$").replace("±", r"$\pm$")
        )

    shown = table.map(typeset).rename(columns=typeset)
    written: str = shown.to_latex(index=False, column_format="l" * len(shown.columns))
    return written


def from_template(
    package: str, name: str, *, filters: Mapping[str, Any], names: Mapping[str, Any], **told: object
) -> str:
    """Page of the template `name`.html.jinja of a package, with its style and script beside it.

    `filters` and `names` are those that the template uses; it is told `told`, `style` and `script`.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - two pages
    from markupsafe import Markup  # noqa: PLC0415

    loader = PackageLoader(package)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True
    )
    environment.filters |= filters
    environment.globals |= names
    style, script = (
        Markup(loader.get_source(environment, f"{name}.{end}")[0])  # noqa: S704 - our own files
        for end in ("css", "js")
    )
    template = environment.get_template(f"{name}.html.jinja")
    return template.render(style=style, script=script, **told)


def one_line(text: str) -> str:
    """Text on one line: how it is wrapped does not matter."""
    return " ".join(text.split())


def together(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of all parts as one, in the order of the parts' names.

    Parameters
    ----------
    parts : mapping of str to DataFrame
        Tables with the same columns. Parts without rows are left out, because their columns
        have no types.
    """
    tables = [parts[name] for name in sorted(parts)]
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)
