import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCalendar } from '../../src/feeds/calendar/read.ts'
import { openOracle } from './feeds-oracle.ts'
import { isFull, proofSeed, randomFrom, type Random } from './random.ts'

const ZONES = `Europe/Zurich America/New_York Australia/Sydney Asia/Kolkata America/Sao_Paulo
  Pacific/Auckland Africa/Cairo UTC`.split(/\s+/)
const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const FROM = '2026-01-01T00:00:00'
const TO = '2027-07-01T00:00:00'

const read = (text: string) =>
  readCalendar({
    text,
    zone: 'UTC',
    fromMs: Temporal.Instant.from(`${FROM}Z`).epochMilliseconds,
    toMs: Temporal.Instant.from(`${TO}Z`).epochMilliseconds,
  }).flatMap(({ events }) => events)

const basic = (time: string) => time.replaceAll(/[-:]/g, '')
const two = (number: number) => String(number).padStart(2, '0')

function randomStart(random: Random) {
  const date = `${2012 + random.below(16)}-${two(1 + random.below(12))}-${two(1 + random.below(28))}`
  // Clocks change before 04:00; the other library knows no time zones.
  return `${date}T${two(4 + random.below(20))}:${two(random.below(60))}:00`
}

function randomRule({ below, chance, pick }: Random) {
  const some = (max: number, make: () => string | number) =>
    [...new Set(Array.from({ length: 1 + below(max) }, make))].join(',')
  const days = () => `BYDAY=${some(4, () => pick(DAYS))}`
  const numbered = () => `BYDAY=${some(2, () => `${pick(['1', '2', '-1', '3'])}${pick(DAYS)}`)}`
  const monthDays = () => `BYMONTHDAY=${some(3, () => pick([1, 5, 13, 15, 28, 30, 31, -1, -2]))}`
  const months = () => `BYMONTH=${some(4, () => 1 + below(12))}`
  const freq = pick(['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'])
  const parts = {
    DAILY: [[], [days()], [months()], [monthDays()], [months(), days()]],
    WEEKLY: [[], [days()], [days(), months()], [`${days()};BYSETPOS=${pick([1, -1])}`]],
    MONTHLY: [
      [],
      [monthDays()],
      [days()],
      [numbered()],
      [monthDays(), months()],
      [days(), `BYSETPOS=${pick([1, 2, -1])}`],
      [days(), monthDays()],
    ],
    // Libraries disagree about the weeks at the ends of a year.
    YEARLY: [
      [],
      [months()],
      [months(), numbered()],
      [months(), monthDays()],
      [numbered()],
      [`BYYEARDAY=${some(3, () => pick([1, 60, 100, 200, 366, -1, -100]))}`],
      [`BYWEEKNO=${some(3, () => pick([2, 10, 20, 40, 51]))}`, days()],
      [months(), days(), `BYSETPOS=${pick([1, -1])}`],
    ],
  }[freq]!
  const ending = pick(['', '', `COUNT=${1 + below(400)}`, 'UNTIL'])
  return [
    `FREQ=${freq}`,
    ...(chance(0.5) ? [`INTERVAL=${1 + below(4)}`] : []),
    ...pick(parts),
    ...(chance(0.3) ? [`WKST=${pick(['SU', 'MO', 'WE'])}`] : []),
    ...(ending === 'UNTIL' ? [`UNTIL=${basic(`2026-${two(1 + below(12))}-15T120000`)}`] : [ending]),
  ]
    .filter(Boolean)
    .join(';')
}

test('random rules give the same local times as dateutil', async (t) => {
  const ask = openOracle(t, 'dateutil')
  if (!ask) return
  const random = randomFrom(proofSeed(t))
  const tasks = Array.from({ length: isFull ? 10_000 : 200 }, () => ({
    rule: randomRule(random),
    start: randomStart(random),
    zone: random.pick(ZONES),
    from: FROM,
    to: TO,
  }))
  const answers = await ask<{ first: string | null; starts: string[] }>(tasks)
  let occurrences = 0
  for (const [at, { first, starts }] of answers.entries()) {
    const { rule, zone } = tasks[at]!
    if (first === null) continue
    const lines = `UID:a\nDTSTART;TZID=${zone}:${basic(first)}\nRRULE:${rule}`
    const events = read(`BEGIN:VCALENDAR\nBEGIN:VEVENT\n${lines}\nEND:VEVENT\nEND:VCALENDAR`)
    assert.equal(events[0]?.held ?? null, null, lines)
    const local = events.map(({ startMs }) =>
      Temporal.Instant.fromEpochMilliseconds(startMs!)
        .toZonedDateTimeISO(zone)
        .toPlainDateTime()
        .toString({ smallestUnit: 'second' }),
    )
    // The window is one of UTC here, and of local times there.
    const inside = (time: string) => time > '2026-01-02' && time < '2027-06-29'
    assert.deepEqual(local.filter(inside), starts.filter(inside), lines)
    occurrences += starts.length
  }
  t.diagnostic(`${tasks.length} rules, ${occurrences} occurrences`)
  assert.ok(occurrences > tasks.length)
})

/** A file with single events and series, each with exceptions, other dates and changed occurrences. */
function randomFile(random: Random) {
  const { below, chance, pick } = random
  const lines = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Test//Test//EN']
  for (let uid = 0; uid < 4; uid += 1) {
    const zone = pick(ZONES.filter((name) => name !== 'UTC'))
    const start = Temporal.PlainDateTime.from(
      `2026-${two(1 + below(12))}-${two(1 + below(28))}`,
    ).with({
      hour: 5 + below(15),
    })
    const time = (day: number, hours = 0) =>
      `;TZID=${zone}:${basic(start.add({ days: day, hours }).toString({ smallestUnit: 'second' }))}`
    const event = (day: number, shift: number, more: string[]) => [
      `BEGIN:VEVENT\r\nUID:${uid}\r\nSUMMARY:${uid} ${shift}\r\nDTSTAMP:20260101T000000Z`,
      `DTSTART${time(day, shift)}`,
      `DTEND${time(day, shift + 1)}`,
      ...more,
      'END:VEVENT',
    ]
    if (chance(0.3)) {
      lines.push(...event(0, 0, []))
      continue
    }
    const step = pick([1, 7, 14])
    const rule = step === 1 ? 'FREQ=DAILY' : `FREQ=WEEKLY;INTERVAL=${step / 7}`
    const occurrence = () => step * below(8)
    const [excluded, changed] = [occurrence(), occurrence()]
    lines.push(
      ...event(0, 0, [
        `RRULE:${rule};COUNT=${8 + below(40)}`,
        ...(excluded !== changed && chance(0.5) ? [`EXDATE${time(excluded)}`] : []),
        ...(chance(0.3) ? [`RDATE${time(3 + step * 60, 2)}`] : []),
      ]),
      ...(chance(0.6) ? event(changed, 1 + below(3), [`RECURRENCE-ID${time(changed)}`]) : []),
    )
  }
  return [...lines, 'END:VCALENDAR', ''].join('\r\n')
}

test('random files give the same occurrences as recurring_ical_events', async (t) => {
  const ask = openOracle(t, 'recurring_ical_events')
  if (!ask) return
  const random = randomFrom(proofSeed(t))
  const tasks = Array.from({ length: isFull ? 1_000 : 40 }, () => ({
    text: randomFile(random),
    from: FROM,
    to: TO,
  }))
  const answers = await ask<string[]>(tasks)
  for (const [at, expected] of answers.entries()) {
    const { text } = tasks[at]!
    const found = read(text).map(({ startMs, endMs, title }) =>
      [...[startMs, endMs].map((ms) => Temporal.Instant.fromEpochMilliseconds(ms!)), title].join(
        ' ',
      ),
    )
    assert.deepEqual(found.toSorted(), expected, text)
  }
  t.diagnostic(`${tasks.length} files, ${answers.flat().length} occurrences`)
})
