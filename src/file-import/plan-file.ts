import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { RequestError } from '../errors.ts'
import { keyOf, readDirectory, type Described, type Directory } from '../matching/directory.ts'
import { plainText } from '../matching/plain.ts'
import { findStatusOf } from '../matching/status-words.ts'
import type { ImportLine } from '../scheduling/import.ts'
import { WINDOW } from '../scheduling/import.ts'
import { getBusiness } from '../store/businesses.ts'
import {
  listAppointmentsAt,
  listKnownAppointments,
  NAMED_KINDS,
  type NamedKind,
  type NamedObject,
} from '../store/named-objects.ts'
import { listStatusesOf, type Status } from '../store/statuses.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import type { DescribedPerson } from '../matching/creation.ts'
import { NO_START, readAppointment, timesOf, type AppointmentRow } from './appointment-rows.ts'
import { readerOf, type CellRules } from './cells.ts'
import type { FileRow } from './csv-records.ts'
import type { FileChoices } from './choices.ts'
import type { DateOrder } from './dates.ts'
import { detectFormat, readRows, type FileFormat } from './read-rows.ts'
import {
  addUsualDefaults,
  defaultsOf,
  MISSING,
  namedDefaults,
  resolveAll,
  type Found,
  type Resolved,
} from './resolve.ts'
import { surveyFile, type Named, type Survey } from './survey.ts'

type Planning = {
  businessId: number
  kind: ObjectKind
  choices: FileChoices
  /** Returns why the caller may not create this kind; undefined if it may. */
  refusalOf?: (kind: string) => string | undefined
  onProgress?: (rows: number) => void
}

export type Question =
  | { about: 'dates'; examples: string[] }
  | { about: 'status'; word: string; rows: number }
  | { about: 'default'; kind: NamedKind; rows: number }
  | {
      about: 'match'
      kind: NamedKind
      name: string
      rows: number
      among: { id: number; name: string; emailAddress: string | null }[]
    }

/** How a file is read, and what it would create. `lines` reads it a second time. */
export class FilePlan {
  readonly format: FileFormat
  readonly survey: Survey
  readonly questions: Question[] = []
  /** The objects that do not exist, by kind. */
  readonly missing: Record<NamedKind, Named<Described | DescribedPerson>[]>
  /** Clients of the file that can get mail, and those that cannot. */
  readonly clients: { withAddress: number; withoutAddress: number }
  /** The status of each status word of the file. */
  readonly statusWords: { word: string; rows: number; status: string | null }[]
  readonly order: DateOrder
  readonly #file: FileHandle
  readonly #db: Db
  readonly #planning: Planning
  readonly #business: { timeZone: string }
  readonly #directory: Directory
  readonly #resolved: Map<string, Resolved>
  readonly #defaults: Partial<Record<NamedKind, Resolved>>
  readonly #statusOf: Map<string, string | undefined>
  /** The properties of a line that its row does not name. */
  readonly #filled = new WeakMap<object, string[]>()

  constructor(given: Prepared) {
    const { survey, found, defaults, statuses, planning } = given
    this.format = given.format
    this.survey = survey
    this.order = given.order
    this.#file = given.file
    this.#db = given.db
    this.#planning = planning
    this.#business = given.business
    this.#directory = given.directory
    this.#resolved = found.resolved
    this.#defaults = defaults
    this.#statusOf = statusMap(survey, statuses, planning.choices)
    this.statusWords = [...survey.statusWords].map(([plain, { value, count }]) => ({
      word: value,
      rows: count,
      status: this.#statusOf.get(plain) ?? null,
    }))
    this.missing = found.missing
    this.clients = found.clients
    this.#ask(given)
  }

  get kind() {
    return this.#planning.kind
  }

  get choices() {
    return this.#planning.choices
  }

  /** For times without an offset, unless the location has another one. */
  get timeZone() {
    return this.#planning.choices.timeZone ?? this.#business.timeZone
  }

  /** A date such as 03/04/2026 whose order is not known: an import, other than a dry run, needs to know. */
  get unclearDate() {
    const question = this.questions.find((one) => one.about === 'dates')
    // Without an example, some dates begin with the day and others with the month.
    return question && (question.examples[0] ?? 'The order of day and month')
  }

  /** The first rows as they are read, with the reason if one is refused. */
  shownRows() {
    const { kind } = this.#planning
    return this.survey.firstRows.map((row) => {
      if ('fault' in row) return { line: row.number, values: {}, why: row.fault }
      if (kind.kind !== 'calendar') {
        const { kind: _kind, ...values } = this.#bodyOf(row.cells)
        return { line: row.number, values }
      }
      const appointment = this.#read(row.cells)
      const { body, faults } = this.#mapped(appointment)
      const values = shownValues(appointment, body, this.#directory)
      const why = faults.length > 0 ? { why: faults.join('; ') } : {}
      return { line: row.number, values, ...why }
    })
  }

  /** What the rows create, then the rows. */
  async *lines(): AsyncIterable<ImportLine[]> {
    yield* this.#creations()
    const { kind } = this.#planning
    for await (const rows of this.#rows()) {
      const lines: ImportLine[] = []
      for (const row of rows) {
        if ('fault' in row) lines.push(row)
        else if (kind.kind === 'calendar')
          lines.push(this.#lineOf(row.number, this.#read(row.cells)))
        else lines.push(this.#plainLine(row))
        if (isSliceOver()) await nextSlice()
      }
      if (kind.kind === 'calendar') {
        await this.#adopt(lines)
        await this.#leaveAlone(lines)
      }
      yield lines
    }
  }

  /** The header and the rows with these numbers, each with the reason, as a CSV file. */
  async *refusedRows(reasons: Map<number, string>): AsyncIterable<string> {
    const write = (cells: string[]) => `${cells.map(csvCell).join(',')}\r\n`
    yield `\ufeff${write([...this.survey.header, 'why'])}`
    for await (const rows of this.#rows()) {
      const refused = rows.filter(({ number }) => reasons.has(number))
      if (refused.length === 0) continue
      yield refused
        .map((row) => {
          const cells = 'cells' in row ? row.cells : []
          const filled = this.survey.header.map((_, i) => cells[i] ?? '')
          return write([...filled, reasons.get(row.number)!])
        })
        .join('')
    }
  }

  /**
   * Names columns instead of properties: `/emailAddress: …` becomes `E-Mail: …`. Says what is missing where
   * no column names it: an appointment with a key of its own may lack what only a new one needs.
   */
  inWords(reason: string) {
    const parts = reason.split('; ').map((part) => {
      const [, property = ''] = /^\/(\w+)(?:\/\d+)?: /.exec(part) ?? []
      const column = this.survey.fields.indexOf(property)
      if (column !== -1) return part.replace(/^[^:]*/, () => this.survey.header[column]!)
      const isLacking = this.kind.kind === 'calendar' && part.endsWith(': is required')
      return isLacking ? (LACKING[property] ?? part) : part
    })
    return [...new Set(parts)].join('; ')
  }

  async *#rows(): AsyncIterable<FileRow[]> {
    for await (const rows of readRows(this.#file, this.format)) {
      yield rows.filter(({ number }) => number > this.survey.headerRow)
    }
  }

  *#creations(): Iterable<ImportLine[]> {
    let lines: ImportLine[] = []
    for (const [key, resolved] of this.#resolved) {
      if (!('body' in resolved) || !resolved.isCreated) continue
      const number = this.survey.described.get(key)?.firstRow ?? this.survey.headerRow
      lines.push({ number, body: { ...resolved.body, ref: key } })
      if (lines.length < WINDOW) continue
      yield lines
      lines = []
    }
    if (lines.length > 0) yield lines
  }

  #rules(): CellRules {
    return { kind: this.#planning.kind, order: this.order, zone: this.timeZone }
  }

  #read(cells: string[]) {
    const { fields, header } = this.survey
    const row = readAppointment(cells, fields, this.#rules())
    if (cells.slice(header.length).some((cell) => cell.trim() !== '')) {
      row.faults.unshift(otherLength(cells.length, header.length))
    }
    return row
  }

  #plainLine({ number, cells }: { number: number; cells: string[] }): ImportLine {
    const { length } = this.survey.header
    return cells.length === length || this.format.type === 'xlsx'
      ? { number, body: this.#bodyOf(cells) }
      : { number, fault: otherLength(cells.length, length) }
  }

  #bodyOf(cells: string[]): Body {
    const { kind } = this.#planning
    const body: Body = { kind: kind.kind }
    for (const [i, field] of this.survey.fields.entries()) {
      const text = (cells[i] ?? '').trim()
      if (field !== null && text !== '') body[field] = readerOf(this.#rules(), field)(text)
    }
    return body
  }

  #lineOf(number: number, row: AppointmentRow): ImportLine {
    const { body, faults } = this.#mapped(row)
    if (faults.length > 0) return { number, fault: faults.join('; ') }
    if (!('calendarId' in body)) body.externalId ??= rowKey(row, body)
    return { number, body }
  }

  /** The appointment of a row as far as it can be read, and what is wrong with it. */
  #mapped(row: AppointmentRow): { body: Body; faults: string[] } {
    const body: Body = { kind: 'calendar', ...row.body }
    // A row that names its appointment may change some of its properties only.
    const hasKey = 'calendarId' in body || 'externalId' in body
    if (!hasKey && !hasTimes(row) && row.faults.length === 0) return { body, faults: [NO_START] }
    const faults: string[] = []
    const objects: Partial<Record<NamedKind, NamedObject>> = {}
    const filled: string[] = []
    for (const kind of NAMED_KINDS) {
      const resolved = this.#resolve(kind, row, hasKey)
      if (!resolved) continue
      const property = 'object' in resolved ? `${kind}Id` : `${kind}Ref`
      if (!row[kind]) filled.push(property)
      if ('fault' in resolved) faults.push(resolved.fault)
      else if ('object' in resolved) {
        body[property] = resolved.object.id
        objects[kind] = resolved.object
      } else body[property] = resolved.key
    }
    this.#filled.set(body, filled)
    const zone =
      this.#planning.choices.timeZone ?? objects.location?.timeZone ?? this.#business.timeZone
    const times: ReturnType<typeof timesOf> | Record<string, never> =
      hasKey && !hasTimes(row) ? {} : timesOf(row, zone, objects.reason?.durationMinutes ?? null)
    if (!('fault' in times)) Object.assign(body, times)
    else if (faults.length === 0) faults.push(times.fault)
    const status = this.#statusOf.get(plainText(row.statusWord))
    if (status !== undefined) body.status = status
    else if (row.statusWord !== '')
      faults.push(`the status “${row.statusWord}” is not known: say what it means`)
    // What cannot be read comes before what it means.
    return { body, faults: row.faults.length > 0 ? row.faults : faults }
  }

  #resolve(kind: NamedKind, row: AppointmentRow, hasKey: boolean): Resolved | undefined {
    const described = row[kind]
    if (described) return this.#resolved.get(keyOf(described))
    if (Object.keys(row.body).some((name) => name.startsWith(kind))) return undefined
    return this.#defaults[kind] ?? (hasKey ? undefined : { fault: MISSING[kind] })
  }

  /** A row without a number of its own is the appointment of the same client, start and service. */
  async #adopt(lines: ImportLine[]) {
    const bodies = lines.flatMap((line): Body[] => ('body' in line ? [line.body as Body] : []))
    const open = bodies.filter(
      ({ externalId, clientId, reasonId }) => isRowKey(externalId) && clientId && reasonId,
    )
    if (open.length === 0) return
    const found = await listAppointmentsAt(this.#db, this.#planning.businessId, {
      clientIds: [...new Set(open.map(({ clientId }) => clientId as number))],
      startTimes: [...new Set(open.map(({ startTime }) => startTime as number))].map((time) =>
        Temporal.Instant.fromEpochMilliseconds(time),
      ),
    })
    const known = new Map(
      found.map(({ calendarId, clientId, reasonId, startTime }) => [
        `${clientId} ${reasonId} ${startTime.epochMilliseconds}`,
        calendarId,
      ]),
    )
    for (const body of open) {
      const { clientId, reasonId, startTime } = body
      const calendarId = known.get(
        `${clientId as number} ${reasonId as number} ${startTime as number}`,
      )
      if (calendarId === undefined) continue
      delete body.externalId
      // An appointment that was deleted, such as by undoing an import, is restored.
      Object.assign(body, { calendarId, active: body.active ?? true })
    }
  }

  /** Defaults are for new appointments: what a row does not say about an existing one stays. */
  async #leaveAlone(lines: ImportLine[]) {
    const bodies = lines.flatMap((line): Body[] => ('body' in line ? [line.body as Body] : []))
    const open = bodies.filter((body) => (this.#filled.get(body) ?? []).length > 0)
    const externalIds = open.flatMap(({ externalId }) =>
      typeof externalId === 'string' && !isRowKey(externalId) ? externalId : [],
    )
    const { businessId } = this.#planning
    const known =
      externalIds.length > 0
        ? await listKnownAppointments(this.#db, businessId, externalIds)
        : new Set<unknown>()
    for (const body of open) {
      if (!('calendarId' in body) && !known.has(body.externalId)) continue
      for (const property of this.#filled.get(body)!) delete body[property]
    }
  }

  #ask({ survey, found, defaults, isUnclear }: Prepared) {
    if (isUnclear) this.questions.push({ about: 'dates', examples: survey.unclearDates })
    for (const { word, rows, status } of this.statusWords) {
      if (status === null) this.questions.push({ about: 'status', word, rows })
    }
    for (const kind of NAMED_KINDS) {
      const rows = survey.missing[kind]
      if (
        rows > 0 &&
        !defaults[kind] &&
        kind !== 'client' &&
        this.#planning.kind.kind === 'calendar'
      ) {
        this.questions.push({ about: 'default', kind, rows })
      }
    }
    for (const { value, count, among } of found.equal) {
      const candidates = among.map(({ id, name, emailAddress }) => ({ id, name, emailAddress }))
      const name = value.name || value.emailAddress
      this.questions.push({
        about: 'match',
        kind: value.kind,
        name,
        rows: count,
        among: candidates,
      })
    }
  }
}

type Body = Record<string, unknown>

const LACKING: Record<string, string> = {
  ...Object.fromEntries(NAMED_KINDS.map((kind) => [`${kind}Id`, MISSING[kind]])),
  startTime: NO_START,
  endTime: NO_START,
}

const otherLength = (found: number, expected: number) =>
  `has ${found} cells, but the header has ${expected}: put text that contains the separator in quotes`

const hasTimes = ({ start, end, minutes }: AppointmentRow) =>
  Object.keys(start).length + Object.keys(end).length > 0 || minutes !== undefined

type Prepared = {
  file: FileHandle
  format: FileFormat
  db: Db
  planning: Planning
  business: { timeZone: string }
  survey: Survey
  directory: Directory
  found: Found
  defaults: Partial<Record<NamedKind, Resolved>>
  statuses: Status[]
  order: DateOrder
  isUnclear: boolean
}

/** Reads a file once, and finds out what its rows mean. */
export async function planFile(db: Db, file: FileHandle, planning: Planning): Promise<FilePlan> {
  const { businessId, kind, choices, refusalOf, onProgress } = planning
  const format = await detectFormat(file)
  const business = await getBusiness(db, businessId)
  const survey = await surveyFile(file, format, {
    kind,
    map: choices.map,
    keptMap: choices.keptMap ?? {},
    ...(onProgress && { onProgress }),
  })
  if (!survey.fields.some(Boolean) && survey.rowCount > 0) throw noColumnRead(kind, survey)
  const named = namedDefaults(choices)
  const described = [...survey.described.values(), ...named.values()].map(({ value }) => value)
  const chosenIds = Object.entries(choices.matches).flatMap(([name, id]) =>
    name.startsWith('client:') && Number.isSafeInteger(Number(id)) ? [Number(id)] : [],
  )
  const directory = await readDirectory(db, businessId, described, chosenIds)
  addUsualDefaults(survey, directory, named, business)
  const found = await resolveAll(survey, named, { directory, choices, refusalOf })
  const isUnclear =
    choices.dates === undefined && (survey.order === 'either' || survey.order === 'both')
  return new FilePlan({
    file,
    format,
    db,
    planning,
    business,
    survey,
    directory,
    found,
    defaults: defaultsOf(named, found, directory),
    statuses: kind.objectType ? await listStatusesOf(db, businessId, kind.objectType) : [],
    order: choices.dates ?? orderOf(survey.order, business.timeZone),
    isUnclear,
  })
}

const noColumnRead = ({ title }: ObjectKind, { headerRow }: Survey) =>
  new RequestError(
    422,
    `No column is a property of ${/^[aeiou]/.test(title) ? 'an' : 'a'} ${title}: row ${headerRow} was taken as the header. Name the columns there, or map one.`,
  )

/** While the question is open, dates are shown as they are usual in the zone of the business. */
const orderOf = (order: Survey['order'], zone: string): DateOrder =>
  order === 'dmy' || order === 'mdy'
    ? order
    : /^(?:America|US)\//.test(zone) && !/Toronto|Argentina|Sao_Paulo/.test(zone)
      ? 'mdy'
      : 'dmy'

function statusMap(survey: Survey, statuses: Status[], { statuses: chosen }: FileChoices) {
  const corrected = new Map(
    Object.entries(chosen).map(([word, status]) => [plainText(word), status]),
  )
  return new Map(
    [...survey.statusWords].map(([plain, { value }]) => [
      plain,
      corrected.get(plain) ?? findStatusOf(value, statuses),
    ]),
  )
}

const ROW_KEY = 'row:'
const isRowKey = (externalId: unknown) =>
  typeof externalId === 'string' && externalId.startsWith(ROW_KEY)

/** The same for the same client, start and service, so that a file can be imported again. */
function rowKey(
  row: AppointmentRow,
  { startTime, clientId, clientExternalId, reasonId, reasonRef }: Body,
) {
  const client = row.client ? keyOf(row.client) : (clientId ?? clientExternalId)
  const reason = row.reason ? keyOf(row.reason) : (reasonId ?? reasonRef)
  const digest = createHash('sha256').update(JSON.stringify([client, startTime, reason]))
  return ROW_KEY + digest.digest('base64url').slice(0, 22)
}

/** A row in words, with the names of what it is matched with. */
function shownValues(row: AppointmentRow, body: Body, directory: Directory): Body {
  const named = (kind: NamedKind) => {
    const id = body[`${kind}Id`]
    const known = typeof id === 'number' ? directory.findById(kind, id) : undefined
    const described = row[kind]
    const name = known?.name ?? described?.name ?? ''
    const address = known?.emailAddress ?? described?.emailAddress ?? ''
    return [kind, kind === 'client' && address ? `${name} <${address}>`.trim() : name || address]
  }
  const { startTime, endTime, status } = body
  return {
    ...row.body,
    ...Object.fromEntries(NAMED_KINDS.map(named).filter(([, text]) => text !== '')),
    ...(startTime !== undefined && { startTime, endTime }),
    status: status ?? row.statusWord,
  }
}

/** A cell that a spreadsheet would run as a formula is marked as text. */
function csvCell(value: string) {
  const text =
    /^[=+@\t\r]|^-(?![\d.,]+$)/.test(value) && !/^\+?[\d\s()/.-]+$/.test(value)
      ? `'${value}`
      : value
  return /[",;\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
