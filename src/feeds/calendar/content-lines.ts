/** A property of RFC 5545. Names of properties and parameters are in capitals. */
export type Property = { name: string; parameters: Map<string, string>; value: string }

export type Component = { name: string; properties: Property[]; components: Component[] }

/** The file cannot be read as a whole. The message continues a sentence about it. */
export class UnreadableCalendar extends Error {}

const MAX_LINE = 100_000
/** Of one event: more can be a million. */
const MAX_PROPERTIES = 5_000
const MAX_EVENTS = 100_000
/** Real files nest three levels: VCALENDAR, VEVENT, VALARM. */
const MAX_DEPTH = 10

/** What is read of each component; everything else is passed over. */
const WANTED: Record<string, Set<string>> = {
  VCALENDAR: new Set(),
  VEVENT: new Set(
    `UID DTSTART DTEND DURATION RRULE RDATE EXRULE EXDATE RECURRENCE-ID SEQUENCE CREATED LAST-MODIFIED
    STATUS TRANSP CLASS SUMMARY DESCRIPTION LOCATION CATEGORIES ORGANIZER ATTENDEE`.split(/\s+/),
  ),
  VTIMEZONE: new Set(['TZID']),
  STANDARD: new Set(['DTSTART', 'TZOFFSETFROM', 'TZOFFSETTO', 'RRULE', 'RDATE']),
  DAYLIGHT: new Set(['DTSTART', 'TZOFFSETFROM', 'TZOFFSETTO', 'RRULE', 'RDATE']),
}

/** The calendars of a file with their events and time zones. A file that was cut is refused. */
export function parseCalendars(text: string): Component[] {
  const root: Component = { name: '', properties: [], components: [] }
  const open = [root]
  let events = 0
  for (const line of linesOf(text)) {
    const current = open.at(-1)!
    const [, begin] = /^BEGIN:\s*([\w-]+)\s*$/i.exec(line) ?? []
    const [, end] = /^END:\s*([\w-]+)\s*$/i.exec(line) ?? []
    if (begin) {
      const component: Component = { name: begin.toUpperCase(), properties: [], components: [] }
      if (WANTED[component.name]) current.components.push(component)
      if (component.name === 'VEVENT' && (events += 1) > MAX_EVENTS) {
        throw new UnreadableCalendar(`has more than ${MAX_EVENTS} events`)
      }
      if (open.push(component) > MAX_DEPTH) throw new UnreadableCalendar('nests too deeply')
    } else if (end) {
      if (end.toUpperCase() !== current.name) throw new UnreadableCalendar(damaged(end))
      open.pop()
    } else if (isWanted(current.name, line)) {
      if (line.length > MAX_LINE) throw new UnreadableCalendar('has a line above 100 KB')
      const property = parseLine(line)
      if (property && current.properties.push(property) > MAX_PROPERTIES) {
        throw new UnreadableCalendar(`has an event with more than ${MAX_PROPERTIES} lines`)
      }
    }
  }
  if (open.length > 1) throw new UnreadableCalendar('ends in the middle')
  const calendars = root.components.filter(({ name }) => name === 'VCALENDAR')
  if (calendars.length === 0) throw new UnreadableCalendar('is not a calendar file')
  return calendars
}

/** Lines without their folds: a fold is a line break and one space or tab. Of a long line its beginning. */
function* linesOf(text: string) {
  let line = ''
  for (let at = text.startsWith('\ufeff') ? 1 : 0; at < text.length;) {
    const found = text.indexOf('\n', at)
    const end = found < 0 ? text.length : found
    const isFold = text[at] === ' ' || text[at] === '\t'
    const [first = '', ...rest] = text
      .slice(isFold ? at + 1 : at, text[end - 1] === '\r' ? end - 1 : end)
      .split('\r')
    if (isFold && line.length <= MAX_LINE) line += first
    else if (!isFold) {
      yield line
      line = first
    }
    for (const more of rest) {
      yield line
      line = more
    }
    at = end + 1
  }
  yield line
}

const damaged = (end: string) => `is damaged: END:${end.slice(0, 20)} has no beginning`

function isWanted(component: string, line: string) {
  const wanted = WANTED[component]
  if (!wanted || wanted.size === 0) return false
  const end = line.search(/[;:]/)
  return end > 0 && wanted.has(line.slice(0, end).toUpperCase())
}

const PARAMETER = /;([\w-]+)=((?:"[^"]*"|[^",;:]*)(?:,(?:"[^"]*"|[^",;:]*))*)/y

const NO_PARAMETERS = new Map<string, string>()

/** Undefined if the line is not a property: some programs break long texts without folding them. */
export function parseLine(line: string): Property | undefined {
  const end = line.search(/[;:]/)
  const name = line.slice(0, end).toUpperCase()
  let parameters = NO_PARAMETERS
  let at = end
  for (;;) {
    PARAMETER.lastIndex = at
    const found = PARAMETER.exec(line)
    if (!found) break
    const [whole, parameter, value] = found
    if (parameters === NO_PARAMETERS) parameters = new Map()
    parameters.set(parameter!.toUpperCase(), decodeParameter(value!))
    at += whole.length
  }
  if (line[at] !== ':') return undefined
  return { name, parameters, value: line.slice(at + 1) }
}

/** Without quotes, and with the characters of RFC 6868. */
const decodeParameter = (value: string) =>
  value
    .replaceAll('"', '')
    .replaceAll(/\^[n'^]/g, (escaped) => ({ '^n': '\n', "^'": '"', '^^': '^' })[escaped]!)

/** A TEXT value without its escapes. */
export const textOf = (value: string) =>
  value.replaceAll(/\\([\\;,nN])/g, (_, escaped: string) => (/n/i.test(escaped) ? '\n' : escaped))

/** The values of a list such as CATEGORIES or EXDATE; an escaped comma does not separate. */
export const listOf = (value: string) => value.match(/(?:\\.|[^,\\])+/gs) ?? []

export const propertyOf = ({ properties }: Component, name: string) =>
  properties.find((property) => property.name === name)

export const propertiesOf = ({ properties }: Component, name: string) =>
  properties.filter((property) => property.name === name)
