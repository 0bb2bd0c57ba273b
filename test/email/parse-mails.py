"""Reads mails with Python's email package and their calendar files with icalendar: one mail in JSON a line."""
import email
import email.policy
import json
import sys

import icalendar


def read_calendar(text):
    [event] = icalendar.Calendar.from_ical(text).walk("VEVENT")
    alarms = [alarm["TRIGGER"].dt.total_seconds() for alarm in event.walk("VALARM")]
    return {
        "uid": str(event["UID"]),
        "sequence": int(event["SEQUENCE"]),
        "start": event["DTSTART"].dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "end": event["DTEND"].dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "summary": str(event["SUMMARY"]),
        "location": str(event.get("LOCATION", "")),
        "description": str(event.get("DESCRIPTION", "")),
        "url": str(event.get("URL", "")),
        "transparency": str(event["TRANSP"]),
        "status": str(event["STATUS"]),
        "alarms": alarms,
        "errors": [str(error) for error in event.errors],
    }


def read_mail(raw):
    mail = email.message_from_bytes(raw.encode("latin-1"), policy=email.policy.default)
    parts = list(mail.walk())
    part = lambda kind: next((one for one in parts if one.get_content_type() == kind), None)
    calendar = part("text/calendar")
    return {
        "defects": [str(defect) for one in parts for defect in one.defects],
        "types": [one.get_content_type() for one in parts],
        "subject": mail["Subject"],
        "from": [mail["From"].addresses[0].display_name, mail["From"].addresses[0].addr_spec],
        "to": [mail["To"].addresses[0].display_name, mail["To"].addresses[0].addr_spec],
        "date": mail["Date"].datetime.timestamp(),
        "language": mail["Content-Language"],
        "text": part("text/plain").get_content().replace("\r\n", "\n"),
        "html": part("text/html").get_content().replace("\r\n", "\n"),
        "method": calendar.get_param("method") if calendar else None,
        "calendar": read_calendar(calendar.get_content()) if calendar else None,
    }


for line in sys.stdin:
    print(json.dumps(read_mail(json.loads(line))))
