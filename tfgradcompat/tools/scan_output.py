"""Writes what a scan found: as text, JSON, SARIF 2.1.0, or the annotations of GitHub Actions."""
from __future__ import absolute_import, division, print_function

import json
import os

from . import scan_rules

try:
    from urllib.parse import quote
except ImportError:  # Python 2
    from urllib import quote

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text(result, tool):
    """A line per finding; then, once per rule, where it lies, where it breaks, and what to write instead."""
    lines = ["%s:%d:%d: %s: %s" % (f.path, f.line, f.column, f.rule, f.message) for f in result.findings]
    lines += ["%s:%d: not read: %s" % (u.path, u.line, u.message) for u in result.unread]
    counts = {}
    for finding in result.findings:
        counts[finding.rule] = counts.get(finding.rule, 0) + 1
    for rule in scan_rules.RULES:
        if rule.id in counts:
            lines += ["", "%s (%d): %s" % (rule.id, counts[rule.id], rule.title)]
            lines += ["  %-9s%s" % (name, value) for name, value in (
                ("silent", rule.silent), ("error", rule.error), ("instead", rule.instead)) if value]
    files = len(set(f.path for f in result.findings))
    lines += [""] if lines else []
    lines.append("%d findings in %d of %d files, %d not read" % (
        len(result.findings), files, result.files, len(result.unread)))
    return "\n".join(lines)


def as_json(result, tool):
    """{"files", "findings": [...], "unread": [...]}; a finding has the texts of its rule with it."""
    return json.dumps({
        "tool": tool, "files": result.files,
        "findings": [dict(finding._asdict(), **_texts(finding.rule)) for finding in result.findings],
        "unread": [dict(unread._asdict()) for unread in result.unread]}, indent=1, sort_keys=True)


def _texts(rule):
    rule = scan_rules.BY_ID[rule]
    return {"title": rule.title, "silent": rule.silent, "error": rule.error, "instead": rule.instead}


def sarif(result, tool):
    """What code-scanning services read. What is silently wrong is an error there, what fails loudly a warning."""
    rules = [{
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),  # SARIF2012: an identifier in Pascal case
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": _explanation(rule)},
        "help": {"text": "Instead: " + rule.instead},
        "defaultConfiguration": {"level": _level(rule)},
    } for rule in scan_rules.RULES]
    order = [rule.id for rule in scan_rules.RULES]
    results = [{
        "ruleId": finding.rule, "ruleIndex": order.index(finding.rule), "level": _level(scan_rules.BY_ID[finding.rule]),
        "message": {"text": _sentence(finding)},
        "locations": [_location(finding)],
    } for finding in result.findings]
    unread = [{
        "level": "error", "message": {"text": "not read: " + u.message},
        "locations": [_location(u)],
    } for u in result.unread]
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [{
        "tool": {"driver": dict(tool, rules=rules)}, "results": results,
        "invocations": [{"executionSuccessful": not unread, "toolExecutionNotifications": unread}],
    }]}, indent=1, sort_keys=True)


def _location(found):
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(found.path)}, "region": {"startLine": found.line}}}


def github(result, tool):
    """Annotations: a workflow that prints these lines shows them beside the code."""
    lines = ["::%s file=%s,line=%d,title=%s::%s" % (
        _level(scan_rules.BY_ID[f.rule]), _property(f.path), f.line, f.rule, _data(_sentence(f)))
             for f in result.findings]
    lines += ["::error file=%s,line=%d,title=not read::%s" % (_property(u.path), u.line, _data(u.message))
              for u in result.unread]
    return "\n".join(lines)


def _level(rule):
    return "error" if rule.silent else "warning"


def _explanation(rule):
    parts = [("Silent: ", rule.silent), ("Error: ", rule.error)]
    return " ".join(name + value for name, value in parts if value)


def _sentence(finding):
    rule = scan_rules.BY_ID[finding.rule]
    return "%s. %s Instead: %s" % (finding.message, _explanation(rule), rule.instead)


def _uri(path):
    """With slashes, and relative where the path is."""
    encode = getattr(os, "fsencode", lambda name: name.encode("utf-8"))  # Python 2, where paths are text here
    return quote(encode(path.replace(os.sep, "/")), safe="/")


def _data(value):
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value):
    return _data(value).replace(":", "%3A").replace(",", "%2C")
