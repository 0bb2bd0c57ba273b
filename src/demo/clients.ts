import type { Period } from './period.ts'
import type { Random } from './random.ts'

/** Language, share, first names, last names. A name can be followed by its form in an email address. */
const NAMES = `
  de-CH | 38 | Anna Beat Claudia Daniel Elisabeth Fabian Gabriela Hans Jürg Karin Lukas Monika Nils Ursula Regula Thomas Vreni Zoë Noémie Matthias | Müller Meier Schmid Keller Weber Huber Schneider Steiner Fischer Gerber Brunner Baumann Frei Zimmermann Moser Hürlimann Rüegg Zürcher Bühler Käser
  fr-CH | 12 | Hélène François Chloé Étienne Amélie Gaël Zélie Benoît | Favre Rochat Dubois Blanc Chevallaz Bonvin Crettenand Jaquiéry
  en | 14 | Olivia Jack Amelia Harry Siobhán/siobhan Callum Zara Dev | Smith Patel Jones Okafor O’Neill/oneill MacLeod Hughes Adeyemi
  es | 6 | Lucía Martín Begoña Íñigo Sofía Andrés | García Núñez Ibáñez Muñoz Peña Castaño
  pl | 5 | Łukasz/lukasz Agnieszka Żaneta Michał/michal Stanisław/stanislaw Małgorzata/malgorzata | Wójcik Kowalski Żółć/zolc Szczęsny Gąsior Błaszczyk/blaszczyk
  tr | 4 | Ayşe Çağla Ömer Şükrü Işıl/isil | Yılmaz/yilmaz Öztürk Şahin Çelik Aydoğan
  uk | 5 | Олена/olena Тарас/taras Ганна/hanna Юрій/yurii Світлана/svitlana | Шевченко/shevchenko Коваль/koval Бондар/bondar Ткачук/tkachuk Мельник/melnyk
  el | 3 | Ελένη/eleni Γιώργος/giorgos Δέσποινα/despina Νίκος/nikos | Παπαδοπούλου/papadopoulou Νικολάου/nikolaou Δημητρίου/dimitriou
  ar | 4 | ليلى/layla عمر/omar فاطمة/fatima يوسف/yusuf | حداد/haddad منصور/mansour الخطيب/alkhatib
  he | 2 | נועה/noa אורי/uri תמר/tamar | כהן/cohen לוי/levi מזרחי/mizrahi
  zh | 3 | 秀英/xiuying 伟/wei 芳/fang 俊杰/junjie | 王/wang 李/li 张/zhang 陈/chen
  ja | 2 | 美咲/misaki 太郎/taro さくら/sakura | 佐藤/sato 鈴木/suzuki 高橋/takahashi
  hi | 1 | प्रिया/priya अर्जुन/arjun | शर्मा/sharma गुप्ता/gupta
  th | 1 | สมชาย/somchai มาลี/mali | ใจดี/jaidee ทองคำ/thongkham`

/** Each name as written, and its form in an email address. */
const parseNames = (text: string) =>
  text.split(' ').map((pair) => {
    const [written = '', plain] = pair.split('/')
    return { written, plain: plain ?? written.normalize('NFD').replace(/\W/g, '').toLowerCase() }
  })

const languages = NAMES.trim()
  .split('\n')
  .map((row) => {
    const [language = '', share, firstNames = '', lastNames = ''] = row.trim().split(' | ')
    return {
      language,
      share: Number(share),
      firstNames: parseNames(firstNames),
      lastNames: parseNames(lastNames),
    }
  })

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
