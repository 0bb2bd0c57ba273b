import { createHash } from 'node:crypto'
import { OBJECT_NAMES, REASONS } from '../contract/reasons.ts'
import type { Db } from '../database/database.ts'
import { draftContent } from '../email/message.ts'
import {
  drawTriggerIds,
  insertPastMessages,
  listAddressees,
  listDemoAppointments,
  listDemoClasses,
  listDemoInvitations,
  listEndedObjects,
  listSentDefinitions,
  type Addressee,
  type PastEmail,
  type PastObject,
  type PastTrigger,
  type SentDefinition,
} from '../store/demo-history.ts'
import { sentAutomations } from './messages.ts'
import { TIME_ZONE } from './practice.ts'
import { encodeBody } from '../store/message-bodies.ts'

/** The messages that were sent, refused or bounced before the demo is loaded. */

const MISSED = ['NO_SHOW', 'LATE_CANCELLED']
const REFUSED = '550 5.7.1 message refused'
const BOUNCED = 'bounced: 5.2.2 the mailbox is full'
/** Each statement checks its mails against all triggers, so a few large statements are faster. */
const MESSAGES_AT_ONCE = 2_500

/** When each automation began to send. */
const sinceWhen = (today: Temporal.PlainDate) =>
  new Map(
    sentAutomations.map(({ description, sentFor }) => [
      description,
      today.subtract(sentFor).toZonedDateTime(TIME_ZONE).toInstant(),
    ]),
  )

/** Writes each message once. The result depends on the day, not on the time of the load. */
export async function recordPastMessages(db: Db, businessId: number, today: Temporal.PlainDate) {
  const since = sinceWhen(today)
  const first = [...since.values()].toSorted(Temporal.Instant.compare)[0]!
  const definitions = await listSentDefinitions(db, businessId, [...since.keys()])
  const ids = definitions.map(({ eventDefnId }) => eventDefnId)
  const ended = await listEndedObjects(db, businessId, ids)
  const known = new Set(ended.map(({ eventDefnId, objectKey }) => `${eventDefnId} ${objectKey}`))
  const clients = new Map(
    (await listAddressees(db, businessId)).map((client) => [client.clientId, client]),
  )
  const objects = {
    CALENDAR: await listDemoAppointments(db, businessId, first),
    CLASS_SCHEDULE: await listDemoClasses(db, businessId, first),
    INVITATION: await listDemoInvitations(db, businessId, first),
  }
  const now = today.toZonedDateTime(TIME_ZONE).toInstant()
  const messages = definitions.flatMap((definition) =>
    objects[definition.objectType].flatMap((object) => {
      if (known.has(`${definition.eventDefnId} ${object.id}`)) return []
      const to = object.clientIds.flatMap((id) => clients.get(id) ?? [])
      return planMessage({ definition, object, to }, since.get(definition.description)!, now)
    }),
  )
  for (let at = 0; at < messages.length; at += MESSAGES_AT_ONCE) {
    await writeMessages(db, businessId, messages.slice(at, at + MESSAGES_AT_ONCE))
  }
}

type Sending = { definition: SentDefinition; object: PastObject; to: Addressee[] }
type Fate = 'ACCEPTED' | 'BOUNCED' | 'FAILED' | 'SKIPPED' | 'EXPIRED' | 'CANCELLED'
type Message = Sending & {
  since: Temporal.Instant
  anchorTime: Temporal.Instant
  scheduledTime: Temporal.Instant
  chance: number
  fate: Fate
}

const isBefore = (a: Temporal.Instant, b: Temporal.Instant) => Temporal.Instant.compare(a, b) < 0

/** The message of a definition about an object, if it was due between `since` and `now`. */
function planMessage(sending: Sending, since: Temporal.Instant, now: Temporal.Instant): Message[] {
  const { definition, object, to } = sending
  const { triggerHours, filterTagMapJson, triggerAnchor, offsetMode } = definition
  const isOver = object.status === 'CANCELLED' || MISSED.includes(object.status)
  if (triggerHours > 0 && isOver) return []
  if (filterTagMapJson !== null && !to.some(({ hasLevel }) => hasLevel)) return []
  const anchorTime = triggerAnchor === 'END' ? object.endTime : object.startTime
  const scheduledTime =
    offsetMode === 'CALENDAR'
      ? anchorTime
          .toZonedDateTimeISO(object.timeZone)
          .add({ days: triggerHours / 24 })
          .toInstant()
      : anchorTime.add({ hours: triggerHours })
  const isDue = !isBefore(scheduledTime, since) && isBefore(scheduledTime, now)
  if (!isDue || isBefore(scheduledTime, object.bookedTime)) return []
  const chance = chanceOf(`${object.externalId} ${definition.description}`)
  const message = { ...sending, since, anchorTime, scheduledTime, chance }
  return [{ ...message, fate: fateOf(message, now) }]
}

/** From 0 to below 1, the same for the same message at every load. */
const chanceOf = (key: string) =>
  createHash('md5').update(key).digest().readUInt32BE() / 4_294_967_296

/** Clients who missed their appointment were reached less often, so that report 904 shows a difference. */
function fateOf(message: Omit<Message, 'fate'>, now: Temporal.Instant): Fate {
  const { object, to, definition, scheduledTime } = message
  if (object.status === 'CANCELLED' && isBefore(object.modifiedDate, scheduledTime)) {
    return 'CANCELLED'
  }
  if (!to.some(({ emailAddress }) => emailAddress !== null)) return 'SKIPPED'
  // No failures in the last two days: the console would ask the user to handle them.
  const isRecent = isBefore(now.subtract({ hours: 48 }), scheduledTime)
  if (definition.objectType === 'CLASS_SCHEDULE' || isRecent) return 'ACCEPTED'
  const chance = MISSED.includes(object.status) ? message.chance / 4 : message.chance
  if (chance < 0.018) return 'FAILED'
  if (chance < 0.042) return 'BOUNCED'
  // Only reminders can be too late.
  return definition.objectType === 'CALENDAR' && chance < 0.062 ? 'EXPIRED' : 'ACCEPTED'
}

async function writeMessages(db: Db, businessId: number, messages: Message[]) {
  const ids = await drawTriggerIds(db, messages.length)
  const triggers = messages.map((message, i) => triggerOf(message, businessId, ids[i]!))
  const emails = messages.flatMap((message, i) => emailsOf(message, businessId, ids[i]!))
  await insertPastMessages(db, triggers, emails)
}

function triggerOf(message: Message, businessId: number, eventTriggerId: number): PastTrigger {
  const { definition, object, anchorTime, scheduledTime, chance, fate, since } = message
  const isSent = fate === 'ACCEPTED' || fate === 'BOUNCED'
  const endedTime = scheduledTime.add({ milliseconds: 2_000 + Math.round(chance * 9_000) })
  return {
    businessId,
    eventTriggerId,
    eventDefnId: definition.eventDefnId,
    defnVersion: definition.version,
    objectType: definition.objectType,
    ...idOf(object),
    occurrence: definition.objectType === 'INVITATION' ? `INVITE_CREATED ${object.id} 1` : null,
    oldStatus: null,
    newStatus: null,
    anchorTime,
    scheduledTime,
    status: isSent ? 'COMPLETED' : fate,
    statusReason: reasonOf(message),
    completedTime: isSent ? endedTime : null,
    createdDate: isBefore(since, object.bookedTime) ? object.bookedTime : since,
    modifiedDate: fate === 'CANCELLED' ? object.modifiedDate : endedTime,
    modifiedUser: 'SYSTEM',
  }
}

const idOf = ({ id }: PastObject) =>
  typeof id === 'number' ? { objectId: id, objectUUId: null } : { objectId: null, objectUUId: id }

function reasonOf({ fate, object, definition }: Message): string | null {
  switch (fate) {
    case 'CANCELLED':
      return `the ${OBJECT_NAMES[definition.objectType]}'s status is ${object.status}`
    case 'SKIPPED':
      return REASONS.noAddress
    case 'FAILED':
      return REFUSED
    case 'EXPIRED':
      return REASONS.alreadyPast
    default:
      return null
  }
}

function emailsOf(message: Message, businessId: number, eventTriggerId: number): PastEmail[] {
  const { definition, object, to, scheduledTime, fate } = message
  if (fate !== 'ACCEPTED' && fate !== 'BOUNCED' && fate !== 'FAILED') return []
  const sentTime = scheduledTime.add({ seconds: 2 })
  const isFailed = fate === 'FAILED'
  const when = object.startTime.toZonedDateTimeISO(object.timeZone).toPlainDateTime()
  const attempt = {
    time: sentTime.epochMilliseconds,
    phase: isFailed ? 'rcpt' : 'end',
    reply: isFailed ? REFUSED : '250 2.0.0 queued',
  }
  return to.flatMap(({ clientId, firstName, emailAddress }): PastEmail[] => {
    if (emailAddress === null) return []
    const text = `Hello ${firstName},\n\nit is about ${when.toString({ smallestUnit: 'minute' }).replace('T', ', ')}.`
    return [
      {
        businessId,
        eventTriggerId,
        eventActionId: definition.eventActionId,
        emailTemplateId: definition.emailTemplateId,
        emailCategoryId: definition.emailCategoryId,
        objectType: definition.objectType,
        ...idOf(object),
        clientId,
        recipientKey: `client ${clientId}`,
        toAddress: emailAddress,
        fromAddress: 'hello@lindenhof.example',
        subject: definition.templateName,
        message: encodeBody(draftContent({ html: null, text }), null),
        messageId: `<demo-${eventTriggerId}-${clientId}@lindenhof.example>`,
        status: isFailed ? 'FAILED' : 'SENT',
        statusReason: isFailed ? REFUSED : fate === 'BOUNCED' ? BOUNCED : null,
        attempts: [attempt],
        sentTime: isFailed ? null : sentTime,
        createdDate: scheduledTime.add({ seconds: 1 }),
      },
    ]
  })
}
