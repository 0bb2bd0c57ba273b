"""Expands rules and calendar files with other libraries: one JSON task a line in, one answer a line out."""
import json
import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr


def expand_rule(task):
    """Local times; the series starts at the first time that its rule names."""
    start = datetime.fromisoformat(task["start"])
    first = next(iter(rrulestr(task["rule"], dtstart=start)), None)
    if first is None:
        return {"first": None, "starts": []}
    rule = rrulestr(task["rule"], dtstart=first)
    window = [datetime.fromisoformat(task[name]) for name in ("from", "to")]
    return {
        "first": first.isoformat(),
        "starts": [time.isoformat() for time in rule.between(*window, inc=True)],
    }


def expand_file(task):
    """Start, end and title of each occurrence, in UTC; days and floating times are those of the zone."""
    import icalendar
    import recurring_ical_events

    floating = ZoneInfo(task.get("zone", "UTC"))

    def utc(value):
        time = value.dt
        if not isinstance(time, datetime):
            time = datetime(time.year, time.month, time.day)
        if time.tzinfo is None:
            time = time.replace(tzinfo=floating)
        return time.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")

    window = [datetime.fromisoformat(task[name]).replace(tzinfo=timezone.utc) for name in ("from", "to")]
    return sorted(
        " ".join([utc(event["DTSTART"]), utc(event["DTEND"]), str(event.get("SUMMARY", ""))])
        for calendar in icalendar.Calendar.from_ical(task["text"], multiple=True)
        for event in recurring_ical_events.of(calendar).between(*window)
    )


for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps(expand_rule(task) if "rule" in task else expand_file(task)))
