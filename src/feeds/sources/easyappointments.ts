import type {
  Entry,
  EntryProblem,
  Pull,
  Pulling,
  Resource,
  Source,
  SourceAccount,
} from '../source.ts'
import { entryWithout } from '../stored-entry.ts'
import { listingOf } from './entries.ts'
import {
  sourceUrlOf,
  isObject,
  JsonApi,
  resourceOfEntry,
  textIn,
  textsIn,
  type JsonObject,
} from './json-api.ts'
import { listedWindow } from '../window.ts'
import { inSessions, testBy } from './sessions.ts'
import { holdsSecret } from './signatures.ts'

/** The appointments of an Easy!Appointments server. See docs/feeds/easyappointments.md. */
export function makeEasyAppointments(privateHosts: readonly string[]): Source {
  const open = (account: SourceAccount, requestsPerMinute: number) => {
    const base = apiAddress(sourceUrlOf(account))
    return new JsonApi(account, { base, privateHosts, requestsPerMinute })
  }
  const { once, ...sessions } = inSessions(open, {
    pull: pullAppointments,
    list: async (api) => ({
      ...listingOf((await listAppointments(api, '-id')).resources),
      window: listedWindow(api.account.window),
    }),
    read: readAppointments,
  })
  return {
    source: 'EASYAPPOINTMENTS',
    minutes: { usual: 5, least: 1 },
    hook: {
      isSigned: (headers, _body, secrets) => holdsSecret(headers['x-ea-token'], secrets),
    },
    test: (account) =>
      testBy('login', () =>
        once(account, async (api) => {
          const { resources } = await listAppointments(api, 'id')
          return { detail: api.acceptance, name: api.host, entries: resources.length }
        }),
      ),
    ...sessions,
  }
}

const PAGE = 250
const WITH = { with: 'customer,provider,service' }

/** The address of the server, of its `index.php`, or of the API itself. */
function apiAddress(base: string) {
  if (base.endsWith('/api/v1')) return base
  return base.endsWith('/index.php') ? `${base}/api/v1` : `${base}/index.php/api/v1`
}

/** There is no time of a change in the answers: each pull lists everything, and compares digests. */
async function* pullAppointments(api: JsonApi, { versionOf }: Pull): Pulling {
  const { resources, keys } = await listAppointments(api, 'id')
  const changed = resources.filter(({ key, version }) => versionOf(key) !== version)
  if (changed.length > 0) yield { resources: changed, deleted: [] }
  const complete = { keys, window: listedWindow(api.account.window) }
  return { cursor: { isComplete: true }, complete }
}

async function listAppointments(api: JsonApi, sort: string) {
  const window = listedWindow(api.account.window)
  const day = (time: Temporal.Instant, days: number) =>
    String(time.toZonedDateTimeISO('UTC').toPlainDate().add({ days }))
  // A day more at both ends: the days are those of each provider's clock.
  const days = { from: day(window.from, -1), till: day(window.to, 2) }
  const found = new Map<string, Resource>()
  for (let page = 1; ; page += 1) {
    const answer = await api.get('/appointments', { ...days, ...WITH, sort, length: PAGE, page })
    if (!Array.isArray(answer)) throw api.unreadable()
    const resources = answer.map((given) => readAppointment(api, given))
    const isRepeated = resources.every(({ key }) => found.has(key))
    for (const resource of resources) found.set(resource.key, resource)
    api.checkCount(found.size)
    if (resources.length < PAGE || isRepeated) break
  }
  return { resources: [...found.values()], keys: new Set(found.keys()) }
}

async function readAppointments(api: JsonApi, keys: string[]) {
  const found = new Map<string, Resource | 'GONE'>()
  // A 404 counts only if the API itself answers.
  if (!Array.isArray(await api.get('/appointments', { length: 1 }))) throw api.unreadable()
  for (const key of keys) {
    const given = await api.find(`/appointments/${encodeURIComponent(key)}`, WITH)
    found.set(key, given === undefined ? 'GONE' : readAppointment(api, given))
  }
  return found
}

function readAppointment(api: JsonApi, given: unknown): Resource {
  const key = isObject(given) ? textIn(given.id) : undefined
  if (key === undefined || !isObject(given)) throw api.unreadable()
  return resourceOfEntry(key, entryOf(key, given))
}

function entryOf(key: string, given: JsonObject): Entry {
  const [customer, provider, service] = [given.customer, given.provider, given.service].map(
    (value) => (isObject(value) ? value : {}),
  ) as [JsonObject, JsonObject, JsonObject]
  const zone = textIn(provider.timezone)
  const start = momentInZone(given.start, zone)
  return entryWithout({
    key,
    start,
    end: momentInZone(given.end, zone),
    status: statusOf(given),
    title: textIn(service.name) ?? null,
    clients: [
      textsIn({
        key: customer.id ?? given.customerId,
        emailAddress: customer.email,
        firstName: customer.first_name,
        lastName: customer.last_name,
        phone: textIn(customer.mobile_number) ?? customer.phone_number,
        timeZone: customer.timezone,
      }),
    ],
    service: textsIn({ key: service.id ?? given.serviceId, name: service.name }),
    staff: textsIn({
      key: provider.id ?? given.providerId,
      name: [provider.first_name, provider.last_name]
        .flatMap((name) => textIn(name) ?? [])
        .join(' '),
      emailAddress: provider.email,
    }),
    location: textIn(given.location) === undefined ? null : textsIn({ name: given.location }),
    problem: problemOf(given, zone, start),
  })
}

/** The start is on the clock of the provider. */
function momentInZone(value: unknown, zone: string | undefined): Temporal.Instant | null {
  if (typeof value !== 'string' || zone === undefined) return null
  try {
    return Temporal.PlainDateTime.from(value.replace(' ', 'T')).toZonedDateTime(zone).toInstant()
  } catch {
    return null
  }
}

/** "Booked" and "Rescheduled" say nothing about the client. */
function statusOf({ status }: JsonObject) {
  const word = textIn(status) ?? null
  return word !== null && /^(booked|rescheduled)$/i.test(word) ? null : word
}

function problemOf(
  { status }: JsonObject,
  zone: string | undefined,
  start: Temporal.Instant | null,
): EntryProblem | null {
  if (/^draft$/i.test(textIn(status) ?? '')) {
    return { state: 'SKIPPED', code: 'draft', reason: 'It is a draft.' }
  }
  if (start) return null
  const reason = zone
    ? `Its start cannot be read in the time zone “${zone}” of its provider.`
    : 'Its provider has no time zone in Easy!Appointments: set it there.'
  return { state: 'HELD', code: 'unknown-zone', reason }
}
