import names from './content/names.json' with { type: 'json' }
import type { Period } from './period.ts'
import type { Random } from './random.ts'

/** Each name as written, and its form in an email address, which can follow it after a slash. */
const parseNames = (text: string) =>
  text.split(' ').map((pair) => {
    const [written = '', plain] = pair.split('/')
    return { written, plain: plain ?? written.normalize('NFD').replace(/\W/g, '').toLowerCase() }
  })

const languages = names.map(({ language, share, firstNames, lastNames }) => ({
  language,
  share,
  firstNames: parseNames(firstNames),
  lastNames: parseNames(lastNames),
}))

const byLanguage = new Map(languages.map((each) => [each.language, each]))
const shares = Object.fromEntries(languages.map(({ language, share }) => [language, share]))

const TIME_ZONES: Record<string, string> = {
  uk: 'Europe/Kyiv',
  en: 'Europe/London',
  zh: 'Asia/Shanghai',
}

/** An invented client; the mail domains are reserved for examples. */
export function clientLine(i: number, random: Random) {
  const { language, firstNames, lastNames } = byLanguage.get(random.pickWeighted(shares))!
  const first = random.pick(firstNames)
  const last = random.pick(lastNames)
  const domain = random.pick(['example.com', 'example.org', 'example.net'])
  const level = random.pickWeighted({ none: 70, silver: 20, gold: 10 })
  return {
    kind: 'client',
    externalId: clientId(i),
    ref: clientId(i),
    firstName: first.written,
    lastName: last.written,
    // A few have no email address.
    ...(random.chance(0.95) ? { emailAddress: `${first.plain}.${last.plain}${i}@${domain}` } : {}),
    ...(random.chance(0.85)
      ? { phone: `+41 44 ${random.between(200, 999)} ${twoDigits(random)} ${twoDigits(random)}` }
      : {}),
    ...(random.chance(0.04) && TIME_ZONES[language] ? { timeZone: TIME_ZONES[language] } : {}),
    language,
    tags: {
      ...(level === 'none' ? {} : { level: [level] }),
      source: [random.pickWeighted({ web: 50, referral: 30, 'walk-in': 20 })],
    },
  }
}

/** The share of all clients that the practice had at the beginning; the others joined evenly. */
const SHARE_AT_START = 0.55

/** How many clients the practice has at a moment, the first ones first. */
export function countJoined(time: number, { first, today }: Period, clients: number) {
  const [start, end] = [first, today].map((day) => day.toZonedDateTime('UTC').epochMilliseconds)
  const progress = Math.min(1, Math.max(0, (time - start!) / (end! - start!)))
  return Math.max(1, Math.floor(clients * (SHARE_AT_START + (1 - SHARE_AT_START) * progress)))
}

/** When a client joined, which is before `countJoined` allows a booking. */
export function joinedTime(i: number, { first, today }: Period, clients: number) {
  const [start, end] = [first, today].map((day) => day.toZonedDateTime('UTC').epochMilliseconds)
  const progress = (i / clients - SHARE_AT_START) / (1 - SHARE_AT_START)
  return Math.floor(start! + Math.max(0, progress) * (end! - start!)) - 86_400_000
}

export const clientId = (i: number) => `demo-client-${i}`

const twoDigits = (random: Random) => String(random.between(0, 99)).padStart(2, '0')
