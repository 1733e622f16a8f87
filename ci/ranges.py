"""Some names of an ordered list, as text."""


def ranges(chosen, order):
    """The names in `chosen`, "0.12, 1.4–1.8", where `order` lists all."""
    runs = []
    for i, name in enumerate(order):
        if name in chosen:
            if runs and runs[-1][1] == i - 1:
                runs[-1][1] = i
            else:
                runs.append([i, i])
    return ", ".join(order[a] if a == b else "%s–%s" % (order[a], order[b]) for a, b in runs) or "–"
