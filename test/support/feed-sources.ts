import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** A server that answers with JSON as another scheduler does. `wrong` replaces its answers. */
async function serveJson(
  t: TestContext,
  answer: (url: URL, headers: http.IncomingHttpHeaders) => { status: number; body?: unknown },
) {
  const fake = {
    url: '',
    requests: 0,
    wrong: undefined as { status: number; text: string } | undefined,
  }
  const server = http.createServer(({ url, headers }, response) => {
    fake.requests += 1
    const { status, body } = answer(new URL(url!, 'http://fake'), headers)
    const text = body === undefined ? '' : JSON.stringify(body)
    const sent = fake.wrong ?? { status, text }
    response.writeHead(sent.status, { 'content-type': 'application/json' }).end(sent.text)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  t.after(() => void (server.close(), server.closeAllConnections()))
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}

type Row = Record<string, unknown>

export type FakeBooking = Row & { uid: string; start: string; createdAt: string; updatedAt: string }

export const bookingOf = (uid: string, more: Row = {}): FakeBooking => ({
  id: 4711,
  uid,
  title: 'Massage between Bea and Anna Müller',
  status: 'accepted',
  start: '2026-12-01T09:00:00.000Z',
  end: '2026-12-01T09:30:00.000Z',
  createdAt: '2026-11-15T20:00:00.000Z',
  updatedAt: '2026-11-15T20:00:00.000Z',
  eventType: { id: 5, slug: 'massage' },
  icsUid: `${uid}@Cal.com`,
  location: 'Altstadt 1',
  hosts: [{ id: 7, name: 'Bea', email: 'bea@salon.test', timeZone: 'Europe/Zurich' }],
  attendees: [
    {
      name: 'Anna Müller',
      email: 'anna+cmf3k2j4x0000abcdefghijklm@example.com',
      displayEmail: 'anna@example.com',
      timeZone: 'America/New_York',
      language: 'en',
      absent: false,
    },
  ],
  ...more,
})

/** Version 2 of the API of Cal.com, in the version 2024-08-13 of its answers. */
export async function startCalcom(t: TestContext, bookings: FakeBooking[] = []) {
  const state = { bookings, pageSize: 250 }
  const answer = (data: unknown, more = {}) => ({
    status: 200,
    body: { status: 'success', data, ...more },
  })
  const fake = await serveJson(t, (url, headers) => {
    if (headers['cal-api-version'] !== '2024-08-13') return { status: 400 }
    if (headers.authorization !== 'Bearer cal_key') return { status: 401 }
    const [, , path, uid] = url.pathname.split('/')
    if (path === 'me') return answer({ id: 7, email: 'bea@salon.test' })
    if (uid !== undefined) {
      const found = state.bookings.find((one) => one.uid === uid)
      return found ? answer(found) : { status: 404, body: { status: 'error' } }
    }
    const [asked, { afterStart = '', beforeEnd = '9', afterUpdatedAt = '' }] = [
      url.searchParams,
      Object.fromEntries(url.searchParams),
    ]
    const field = asked.has('sortCreated')
      ? 'createdAt'
      : asked.has('sortUpdatedAt')
        ? 'updatedAt'
        : 'start'
    const all = state.bookings
      .filter((one) => one.start >= afterStart && one.start <= beforeEnd)
      .filter(({ updatedAt }) => updatedAt >= afterUpdatedAt.slice(0, 19))
      .toSorted((a, b) => (a[field] < b[field] ? -1 : 1))
    const skip = Number(asked.get('skip') ?? 0)
    const page = all.slice(skip, skip + Math.min(Number(asked.get('take')), state.pageSize))
    const hasNextPage = skip + page.length < all.length
    return answer(page, { pagination: { totalItems: all.length, hasNextPage } })
  })
  return Object.assign(fake, { state })
}

export type FakeAppointment = Row & { id: number }

export const appointmentOf = (id: number, more: Row = {}): FakeAppointment => ({
  id,
  start: '2026-12-01 10:00:00',
  end: '2026-12-01 10:30:00',
  status: 'Booked',
  location: null,
  customerId: 4,
  providerId: 2,
  serviceId: 1,
  customer: {
    id: 4,
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@client.test',
    phone_number: '+41 79 123 45 67',
    mobile_number: null,
    timezone: 'Europe/Zurich',
  },
  provider: {
    id: 2,
    first_name: 'Elena',
    last_name: 'Frei',
    email: 'elena@salon.test',
    timezone: 'Europe/Zurich',
  },
  service: { id: 1, name: 'Massage' },
  ...more,
})

/** The API of Easy!Appointments. */
export async function startEasyAppointments(t: TestContext, appointments: FakeAppointment[] = []) {
  const state = { appointments }
  const fake = await serveJson(t, (url, headers) => {
    if (headers.authorization !== 'Bearer token') return { status: 401 }
    const [, index, , , path, id] = url.pathname.split('/')
    if (index !== 'index.php' || path !== 'appointments') return { status: 404 }
    if (id !== undefined) {
      const found = state.appointments.find((one) => String(one.id) === id)
      return found ? { status: 200, body: found } : { status: 404 }
    }
    const descending = url.searchParams.get('sort')?.startsWith('-')
    const all = state.appointments.toSorted((a, b) => (descending ? b.id - a.id : a.id - b.id))
    const length = Number(url.searchParams.get('length') ?? 20)
    const from = (Number(url.searchParams.get('page') ?? 1) - 1) * length
    return { status: 200, body: all.slice(from, from + length) }
  })
  return Object.assign(fake, { state })
}
