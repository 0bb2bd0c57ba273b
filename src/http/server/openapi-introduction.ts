/**
 * The introduction of the API page: everything that a developer needs to get from a key to a sent mail.
 * test/http/first-steps.test.ts runs the requests; ids in them are examples.
 */
export const INTRODUCTION = `Automated emails for businesses that work by appointment, and reports.

Send \`Authorization: Bearer <key>\` with every request, and bodies as \`Content-Type: application/json\`. Times are milliseconds since 1970-01-01 00:00 UTC, dates are \`YYYY-MM-DD\`. \`POST\` to a list creates an object, or changes the one whose id or \`externalId\` is in the body: absent properties stay unchanged, \`null\` clears one.

## Get a key

The operator of the installation creates the business and its first key with the key that the service printed at its first start. Note the \`businessId\`: event definitions and actions ask for it.

\`\`\`
POST /business
{ "name": "Praxis am See", "timeZone": "Europe/Zurich" }
\`\`\`

\`\`\`
POST /business/1/apiKey
{ "name": "booking site" }
\`\`\`

## Book an appointment

An appointment needs a location, a member of staff, a service and a client. With an \`externalId\`, the id of the object in your own system, you can refer to them without storing our ids.

\`\`\`
POST /location
{ "externalId": "L1", "name": "Zürich Altstadt" }
\`\`\`

\`\`\`
POST /professional
{ "externalId": "P1", "firstName": "Elena", "lastName": "Rossi" }
\`\`\`

\`\`\`
POST /reason
{ "externalId": "S1", "name": "First visit", "durationMinutes": 30 }
\`\`\`

\`\`\`
POST /client
{ "externalId": "C1", "firstName": "Anna", "lastName": "Müller", "emailAddress": "anna@example.com" }
\`\`\`

\`\`\`
POST /calendar
{ "externalId": "A1", "locationExternalId": "L1", "professionalExternalId": "P1",
  "reasonExternalId": "S1", "clientExternalId": "C1",
  "startTime": 1799910000000, "endTime": 1799911800000 }
\`\`\`

## Send a mail 24 hours before, and when it is moved

A template is the mail; \`GET /emailTemplate/token\` lists its tokens. An event definition says when, its actions say which template goes to whom. \`GET /eventType\` lists the 13 events. Reminders before the event have negative hours.

\`\`\`
POST /emailTemplate
{ "templateName": "Reminder", "subject": "See you on %APPT_DATE_LOCATION%",
  "emailBody": "<p>Dear %CLIENT_FULLNAME%, see you at %APPT_TIME_LOCATION%.</p>" }
\`\`\`

\`\`\`
POST /eventDefinition
{ "active": true, "businessId": 1, "description": "24 hours before", "objectType": "CALENDAR",
  "eventType": { "eventType": "APPT_REMINDER" }, "triggerHours": -24, "triggerMinutes": 0,
  "eventActions": [
    { "actionType": "SEND_EMAIL", "active": true, "businessId": 1, "emailTemplateId": 7,
      "recipient": { "value": "client" } } ] }
\`\`\`

\`\`\`
POST /eventDefinition
{ "active": true, "businessId": 1, "description": "When it is moved", "objectType": "CALENDAR",
  "eventType": { "eventType": "APPT_CHANGED" }, "changes": ["TIME"],
  "triggerHours": 0, "triggerMinutes": 0,
  "eventActions": [
    { "actionType": "SEND_EMAIL", "active": true, "businessId": 1, "emailTemplateId": 7 } ] }
\`\`\`

Saving a definition sends nothing at once: it plans the appointments that are still ahead. Moving the appointment moves its reminder and fires the second definition.

\`\`\`
POST /calendar
{ "externalId": "A1", "startTime": 1799996400000, "endTime": 1799998200000 }
\`\`\`

## Find out why a mail was sent, or not

\`explain\` lists every active definition with each check in words. Triggers are the planned and past firings; \`statusReason\` says why one was skipped, cancelled or failed. Emails show what the mail server answered.

\`\`\`
GET /explain/CALENDAR/4711
\`\`\`

\`\`\`
GET /eventTriggers/CALENDAR/4711
\`\`\`

\`\`\`
GET /emails/calendar/4711
\`\`\`

## Read a long list

Lists answer \`{ "items": […], "nextCursor": … }\`. Send \`nextCursor\` as \`cursor\`, with the same filters, until it is \`null\`.

\`\`\`
GET /eventTriggers?limit=500
\`\`\`

## Keep a copy in step

1. Read each list once, to the last page, and keep its \`nextPosition\`.
2. From then on, read the list with \`changedSince\` and the position that you kept. It answers every object that was created, changed or deleted since, the deleted ones with \`active: false\`. Keep the new \`nextPosition\`.
3. If the answer is 410, begin again with step 1.

\`\`\`
GET /calendar?changedSince=WyI5ZjJjNGUiLCI4MTIzIl0
\`\`\`

A position follows commits: a change that is being saved is listed when it is stored, however long that took. An object can be listed again without a change. \`modifiedSince\` compares times, so it can miss a change that is being saved. \`GET /changes/position\` answers the position of now; \`GET /changes\` tells you when to read.

To push your own changes, send your ids as \`externalId\`. A \`POST\` with a known \`externalId\` changes the object, and restores it if it was deleted, unless the body says \`active: false\`. \`DELETE /calendar?externalId=…\` deletes it.

## When a request is refused

Every error is \`application/problem+json\`. \`code\` is stable, and \`type\` is the address of a page about it. For wrong input, \`errors\` lists all faults at once, each with a JSON pointer (or \`?name\` for a query parameter), and nothing is written. Unknown properties and query parameters are refused, with the nearest name that has an effect. What an answer holds can be sent back: properties that only the service sets are ignored.

To be safe against repeats, send an \`Idempotency-Key\` with a \`POST\`. To be safe against concurrent changes, send the \`ETag\` of an answer as \`If-Match\`.`
