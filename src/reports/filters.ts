import type { ObjectType } from '../contract/event-type.ts'
import { TRIGGER_STATUSES } from '../contract/event-trigger.ts'
import { EMAIL_STATUSES } from '../contract/email.ts'
import { findFaults } from '../contract/find-faults.ts'
import { escapePointer, isPlainObject } from '../contract/json.ts'
import { FILTER_NAMES, ReportFilters, type FilterName } from '../contract/report.ts'
import type { Db } from '../database/database.ts'
import { MAX_FAULTS } from '../errors.ts'
import { sql } from '../database/sql.ts'
import type { AppliedFilters, Report, ReportSubject, Scope, StatusOutcomes } from './report.ts'
import type { Words } from './words.ts'

/** The filters of a request, checked for their form. `null`: no filter. */
export type Filters = {
  locationIdList: number[] | null
  professionalIdList: number[] | null
  reasonIdList: number[] | null
  clientIdList: number[] | null
  statusList: string[] | null
  tags: [name: string, values: string[]][] | null
}

export type AddFault = (pointer: string, detail: string) => void

const NO_FILTERS: Filters = {
  locationIdList: null,
  professionalIdList: null,
  reasonIdList: null,
  clientIdList: null,
  statusList: null,
  tags: null,
}

/** Reads the filters of a request. An empty list and null do not filter. */
export function readFilters(value: unknown, addFault: AddFault): Filters {
  const wanted = isPlainObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null))
    : (value ?? {})
  const faults = findFaults(ReportFilters, wanted)
  for (const { pointer, detail } of faults) addFault(`/filters${pointer}`, detail)
  // After that many faults the rest is not checked.
  if (!isPlainObject(wanted) || faults.length >= MAX_FAULTS) return NO_FILTERS
  const faulty = new Set(faults.map(({ pointer }) => pointer.split('/')[1]))
  const given: ReportFilters = Object.fromEntries(
    Object.entries(wanted).filter(([name]) => !faulty.has(name)),
  )
  const tags = Object.entries(given.tags ?? {}).filter(([, values]) => values.length > 0)
  return {
    locationIdList: listOrNull(given.locationIdList),
    professionalIdList: listOrNull(given.professionalIdList),
    reasonIdList: listOrNull(given.reasonIdList),
    clientIdList: listOrNull(given.clientIdList),
    statusList: listOrNull(given.statusList),
    tags: tags.length > 0 ? tags : null,
  }
}

const listOrNull = <T>(items: T[] | undefined) =>
  items && items.length > 0 ? [...new Set(items)] : null

/** The objects whose statuses a report can be filtered by. */
export const OBJECT_TYPES: Partial<Record<ReportSubject, ObjectType>> = {
  appointments: 'CALENDAR',
  classes: 'CLASS_SCHEDULE',
  invitations: 'INVITATION',
  recalls: 'RECALL',
  disclaimers: 'DISCLAIMER',
}

const ALL_FILTERS: readonly FilterName[] = FILTER_NAMES

/** The filters that apply to the rows of a report. */
const FILTERS_OF: Record<ReportSubject, readonly FilterName[]> = {
  appointments: ALL_FILTERS,
  classes: ALL_FILTERS,
  recalls: ALL_FILTERS,
  invitations: ['clientIdList', 'statusList', 'tags'],
  disclaimers: ALL_FILTERS,
  triggers: ['locationIdList', 'professionalIdList', 'reasonIdList', 'clientIdList', 'statusList'],
  emails: ['locationIdList', 'professionalIdList', 'reasonIdList', 'clientIdList', 'statusList'],
  clients: ['clientIdList', 'tags'],
  feeds: [],
}

export const canFilterBy = ({ about }: Report, name: FilterName) => FILTERS_OF[about].includes(name)

/** Refuses filters that the report cannot apply, and statuses that its objects do not have. */
export function checkAgainstReport(
  report: Report,
  filters: Filters,
  outcomes: StatusOutcomes[],
  addFault: AddFault,
) {
  for (const name of FILTER_NAMES) {
    if (filters[name] === null || canFilterBy(report, name)) continue
    addFault(`/filters/${name}`, `cannot be applied to this report, which is about ${report.about}`)
  }
  const known = statusesOf(report.about, outcomes)
  filters.statusList?.forEach((status, i) => {
    if (known.includes(status)) return
    addFault(`/filters/statusList/${i}`, `must be one of ${known.join(', ')}`)
  })
}

function statusesOf(about: ReportSubject, outcomes: StatusOutcomes[]): readonly string[] {
  if (about === 'triggers') return TRIGGER_STATUSES
  if (about === 'emails') return EMAIL_STATUSES
  return outcomes
    .filter(({ objectType }) => objectType === OBJECT_TYPES[about])
    .flatMap(({ statuses }) => statuses)
}

type Named = { id: number; name: string }
type Names = { locations: Named[]; staff: Named[]; reasons: Named[]; clients: Named[] }

/** The names of the filtered objects that exist. */
export async function findFilterNames(
  db: Db,
  businessId: number,
  ids: Pick<Scope, 'locationIds' | 'professionalIds' | 'reasonIds' | 'clientIds'>,
): Promise<Names> {
  const { locationIds, professionalIds, reasonIds, clientIds } = ids
  if (!locationIds && !professionalIds && !reasonIds && !clientIds) {
    return { locations: [], staff: [], reasons: [], clients: [] }
  }
  return db.getRow<Names>(sql`
    select (select coalesce(json_agg(json_build_object('id', location_id, 'name', name) order by name collate name_order), '[]')
            from location
            where business_id = ${businessId} and location_id = any (${locationIds ?? []}::bigint[])) as locations,
           (select coalesce(json_agg(json_build_object('id', professional_id, 'name', first_name || ' ' || last_name)
                                     order by first_name collate name_order, last_name collate name_order), '[]')
            from professional
            where business_id = ${businessId} and professional_id = any (${professionalIds ?? []}::bigint[])) as staff,
           (select coalesce(json_agg(json_build_object('id', reason_id, 'name', name) order by name collate name_order), '[]')
            from reason
            where business_id = ${businessId} and reason_id = any (${reasonIds ?? []}::bigint[])) as reasons,
           (select coalesce(json_agg(json_build_object('id', client_id, 'name', first_name || ' ' || last_name)
                                     order by last_name collate name_order, first_name collate name_order), '[]')
            from client
            where business_id = ${businessId} and client_id = any (${clientIds ?? []}::bigint[])) as clients`)
}

/** Refuses ids of objects that the business does not have, and locations that the reader cannot see. */
export function refuseUnknownIds(
  { locations, staff, reasons, clients }: Names,
  filters: Filters,
  addFault: AddFault,
) {
  const check = (name: FilterName, ids: number[] | null, known: Named[], what: string) =>
    ids?.forEach((id, i) => {
      if (!known.some((one) => one.id === id)) {
        addFault(`/filters/${name}/${i}`, `there is no such ${what}`)
      }
    })
  check('locationIdList', filters.locationIdList, locations, 'location')
  check('professionalIdList', filters.professionalIdList, staff, 'professional')
  check('reasonIdList', filters.reasonIdList, reasons, 'reason')
  check('clientIdList', filters.clientIdList, clients, 'client')
}

/** Refuses tags that no client and no object of the business has. */
export async function refuseUnknownTags(
  db: Db,
  businessId: number,
  tags: Filters['tags'],
  addFault: AddFault,
) {
  for (const [name, values] of tags ?? []) {
    const known = await db.query<{ value: string }>(sql`
      select v.value from unnest(${values}::text[]) v (value)
      where exists (select from client t where t.business_id = ${businessId} and t.tags -> ${name} ? v.value)
         or exists (select from calendar t where t.business_id = ${businessId} and t.tags -> ${name} ? v.value)
         or exists (select from class_schedule t where t.business_id = ${businessId} and t.tags -> ${name} ? v.value)
         or exists (select from recall t where t.business_id = ${businessId} and t.tags -> ${name} ? v.value)
         or exists (select from invitation t where t.business_id = ${businessId} and t.tags -> ${name} ? v.value)
         or exists (select from disclaimer t where t.business_id = ${businessId} and t.tags -> ${name} ? v.value)`)
    values.forEach((value, i) => {
      if (known.some((one) => one.value === value)) return
      addFault(`/filters/tags/${escapePointer(name)}/${i}`, 'is a value that this tag has nowhere')
    })
  }
}

/** The filters for the head of a report, so that readers do not take a part for the whole. */
export function describeFilters(
  scope: Pick<Scope, 'professionalIds' | 'reasonIds' | 'clientIds' | 'statuses' | 'tags'>,
  { staff, reasons, clients }: Names,
  { say }: Words,
): [label: string, value: string][] {
  const shown = staff.filter(({ id }) => scope.professionalIds?.includes(id))
  const facts: [string, string | null][] = [
    [say('Staff'), scope.professionalIds && (joinNames(shown, say) ?? say('none'))],
    [say('Services'), scope.reasonIds && joinNames(reasons, say)],
    [say('Clients'), scope.clientIds && joinNames(clients, say)],
    [say('Status'), scope.statuses && scope.statuses.join(', ')],
    ...(scope.tags ?? []).map(([name, values]): [string, string] => [
      say('Tag {name}', { name }),
      values.join(', '),
    ]),
  ]
  return facts.flatMap(([label, value]) => (value === null ? [] : [[label, value]]))
}

/** The names of these locations; null if all are shown. */
export function describeLocations(
  locationIds: number[] | null,
  { locations }: Names,
  { say }: Words,
) {
  if (!locationIds) return null
  return (
    joinNames(
      locations.filter(({ id }) => locationIds.includes(id)),
      say,
    ) ?? say('none')
  )
}

const MAX_LISTED = 3

/** Lists the first names and counts the others. */
function joinNames(named: Named[], say: Words['say']) {
  const first = named.slice(0, MAX_LISTED).map(({ name }) => name)
  if (first.length === 0) return null
  const more = named.length - first.length
  return more > 0
    ? say('{names} and {more} more', { names: first.join(', '), more })
    : first.join(', ')
}

/** The filters of the request as JSON, for the parameters of the printed report. */
export const appliedFilters = (filters: Filters): AppliedFilters =>
  Object.fromEntries(
    FILTER_NAMES.flatMap((name) => {
      const value = filters[name]
      if (value === null) return []
      return [[name, name === 'tags' ? Object.fromEntries(filters.tags!) : value]]
    }),
  )

const FILE_WORDS: Record<FilterName, string> = {
  locationIdList: 'location',
  professionalIdList: 'staff',
  reasonIdList: 'service',
  clientIdList: 'client',
  statusList: 'status',
  tags: 'tag',
}

const MAX_FILE_PART = 80

/** The filters as a part of a file name, such as `-staff-3-status-no_show`. It needs no escaping. */
export function filePartOf(filters: AppliedFilters) {
  const part = FILTER_NAMES.filter((name) => filters[name] !== undefined)
    .map((name) => `-${FILE_WORDS[name]}-${filterWordsOf(filters[name]).join('-')}`)
    .join('')
  return part.length > MAX_FILE_PART ? `${part.slice(0, MAX_FILE_PART)}-and-more` : part
}

const filterWordsOf = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.map((item) => plainWord(String(item)))
    : Object.entries(value as Record<string, string[]>).flatMap(([name, values]) => [
        plainWord(name),
        ...values.map(plainWord),
      ])

const plainWord = (text: string) =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '') || 'other'
