import { parseAddress } from '../contract/addresses.ts'
import { externalName, refName } from '../contract/object-body.ts'
import type { DescribedPerson } from '../matching/creation.ts'
import type { Described } from '../matching/directory.ts'
import { fullName, readPerson } from '../matching/people.ts'
import type { NamedKind } from '../store/named-objects.ts'
import { readAmount, readerOf, readFlagOrTime, type CellRules } from './cells.ts'
import { readDuration, readHours, readWhen, type When } from './dates.ts'
import { isReadable } from './fields.ts'

/** An appointment as a row describes it: in words, before its client, staff and service are known. */
export type AppointmentRow = {
  client?: DescribedPerson
  professional?: DescribedPerson
  reason?: Described
  location?: Described
  start: When
  end: When
  minutes: number | undefined
  /** Empty if the row has none. */
  statusWord: string
  /** Columns that are properties of an appointment. */
  body: Record<string, unknown>
  faults: string[]
}

const MAX_NAME = 300
/** Of a longer text, the beginning is enough to refuse it. */
const MAX_READ = 2_000

/** Reads the cells of a row. `fields` has the field of each column, and null for others. */
export function readAppointment(
  cells: string[],
  fields: (string | null)[],
  rules: CellRules,
): AppointmentRow {
  const faults: string[] = []
  const body: Record<string, unknown> = {}
  const texts: Record<string, string> = {}
  for (const [i, field] of fields.entries()) {
    const cell = (cells[i] ?? '').trim()
    if (field === null || cell === '') continue
    if (isReadable(field) || field === 'startTime' || field === 'endTime' || field === 'status') {
      texts[field] = cell
    } else if (field === 'price') Object.assign(body, readPrice(cell))
    else body[field] = readerOf(rules, field)(cell)
  }
  const whenOf = (side: 'start' | 'end') => readSide(side, texts, rules, faults)
  return {
    ...readDescribed(texts, body, faults),
    start: whenOf('start'),
    end: whenOf('end'),
    minutes: readMinutes(texts, faults),
    statusWord: readStatusWord(texts),
    body,
    faults,
  }
}

const quoted = (text: string) => `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`

const CURRENCIES: Record<string, string> = { '€': 'EUR', '£': 'GBP' }

function readPrice(cell: string) {
  const price = readAmount(cell)
  const mark = /\b[A-Z]{3}\b|[€£]/.exec(cell.slice(0, 40))?.[0]
  const currency = mark && (CURRENCIES[mark] ?? mark)
  return currency && typeof price === 'number' ? { price, currency } : { price }
}

/** The parts of the start or the end from up to three columns; what a whole time says has precedence. */
function readSide(
  side: 'start' | 'end',
  texts: Record<string, string>,
  { order }: CellRules,
  faults: string[],
): When {
  const whole: When = {}
  for (const field of [`${side}TimeOfDay`, `${side}Date`, `${side}Time`]) {
    const text = texts[field]
    if (text === undefined) continue
    const when = readWhen(text, order)
    if (when) Object.assign(whole, when)
    else faults.push(`${quoted(text)} is not a date or time: write it as ${exampleOf(field)}`)
  }
  return whole
}

const exampleOf = (field: string) =>
  field.endsWith('TimeOfDay') ? '09:30' : `2026-07-01${field.endsWith('Date') ? '' : ' 09:30'}`

function readMinutes({ durationMinutes, durationHours }: Record<string, string>, faults: string[]) {
  const text = durationMinutes ?? durationHours
  if (text === undefined) return undefined
  const minutes = text === durationMinutes ? readDuration(text) : readHours(text)
  if (minutes === undefined)
    faults.push(`${quoted(text)} is not a duration: write minutes, such as 45`)
  return minutes
}

/** What a column of cancellations or no-shows says has precedence: yes, or since when. */
function readStatusWord({ status = '', cancelled = '', noShow = '' }: Record<string, string>) {
  if (readFlagOrTime(cancelled)) return 'cancelled'
  return readFlagOrTime(noShow) ? 'no show' : status
}

function readDescribed(
  texts: Record<string, string>,
  body: Record<string, unknown>,
  faults: string[],
) {
  const person = (kind: 'client' | 'professional') => {
    if (isNamedById(kind, body) && !isDescribed(kind, texts)) return {}
    const found = describePerson(kind, texts, faults)
    if (!found) return {}
    // The id of a client that may be new is looked up with its name and address.
    const external = body[externalName(`${kind}Id`)]
    delete body[externalName(`${kind}Id`)]
    return { [kind]: typeof external === 'string' ? { ...found, externalId: external } : found }
  }
  const named = (kind: 'reason' | 'location') => {
    const name = oneLine(texts[kind] ?? '')
    if (name === '' || isNamedById(kind, body)) return {}
    if (name.length > MAX_NAME)
      faults.push(`${quoted(name)} is too long for a name: ${MAX_NAME} characters are possible`)
    return { [kind]: { kind, name, emailAddress: '' } }
  }
  return {
    ...person('client'),
    ...person('professional'),
    ...named('reason'),
    ...named('location'),
  }
}

/** Whether the row names the object by an id of ours or of the other system. */
const isNamedById = (kind: NamedKind, body: Record<string, unknown>) =>
  [`${kind}Id`, externalName(`${kind}Id`), refName(`${kind}Id`)].some((name) => name in body)

const isDescribed = (kind: 'client' | 'professional', texts: Record<string, string>) =>
  ['', 'FirstName', 'LastName', 'EmailAddress'].some((part) => `${kind}${part}` in texts)

function describePerson(
  kind: 'client' | 'professional',
  texts: Record<string, string>,
  faults: string[],
): DescribedPerson | undefined {
  const person = readPerson(oneLine(texts[kind] ?? ''))
  const first = oneLine(texts[`${kind}FirstName`] ?? '')
  const last = oneLine(texts[`${kind}LastName`] ?? '')
  if (first !== '' || last !== '') {
    Object.assign(person, readPerson(`${last},${first}`), { emailAddress: person.emailAddress })
  }
  const emailAddress = readPerson(texts[`${kind}EmailAddress`] ?? '').emailAddress
  const given = texts[`${kind}EmailAddress`] ?? ''
  person.emailAddress = emailAddress || given || person.emailAddress
  if (person.emailAddress !== '' && parseAddress(person.emailAddress) === undefined) {
    faults.push(`${quoted(person.emailAddress)} is not an email address: correct it, or empty it`)
  }
  const name = fullName(person)
  if (name === '' && person.emailAddress === '') return undefined
  if (name.length > MAX_NAME)
    faults.push(`${quoted(name)} is too long for a name: ${MAX_NAME} characters are possible`)
  const phone = oneLine(texts[`${kind}Phone`] ?? '').slice(0, 60)
  return { kind, name, phone, ...person }
}

const oneLine = (text: string) =>
  text
    .slice(0, MAX_READ)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()

export const NO_START = 'has no start: add a date and a time'

/** The start and end of a row in the zone, or why they are not known. */
export function timesOf(
  { start, end, minutes }: AppointmentRow,
  zone: string,
  usualMinutes: number | null,
): { startTime: number; endTime: number } | { fault: string } {
  const startTime = momentOf(start, zone)
  if (startTime === undefined) {
    return { fault: start.date ? 'has no time of day: add one' : NO_START }
  }
  const endTime = endOf(start, end, startTime, zone)
  if (endTime !== undefined) return { startTime, endTime }
  const lasts = minutes ?? usualMinutes
  return lasts === null
    ? { fault: 'has no end and no duration: add one, or a usual duration to its service' }
    : { startTime, endTime: startTime + lasts * 60_000 }
}

const momentOf = ({ instant, date, time }: When, zone: string) =>
  instant?.epochMilliseconds ??
  (date && time && date.toZonedDateTime({ timeZone: zone, plainTime: time }).epochMilliseconds)

/** An end that is a time of day is on the day of the start, or on the next one. */
function endOf(start: When, end: When, startTime: number, zone: string) {
  const whole = momentOf(end, zone)
  if (whole !== undefined) return whole
  const time = end.time ?? start.endTime
  if (!time) return undefined
  const begins = Temporal.Instant.fromEpochMilliseconds(startTime).toZonedDateTimeISO(zone)
  const date = end.date ?? begins.toPlainDate()
  const ends = date.toZonedDateTime({ timeZone: zone, plainTime: time })
  return end.date || Temporal.ZonedDateTime.compare(ends, begins) > 0
    ? ends.epochMilliseconds
    : ends.add({ days: 1 }).epochMilliseconds
}
