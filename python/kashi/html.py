"""Modules as HTML, for notebooks."""
import html


def module_page(module) -> str:
    """Each computation as a part that opens and closes; the entry is open."""
    parts = []
    for computation in module.computations:
        text = html.escape(str(computation))
        state = " open" if computation.is_entry else ""
        parts.append(f"<details{state}><summary>{html.escape(computation.name)}</summary><pre>{text}</pre></details>")
    return "<div>" + "".join(parts) + "</div>"
