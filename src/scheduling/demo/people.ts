import type { Dice } from './dice.ts'

/** Names as people write them, and in the letters of their addresses. */
type Names = {
  language: string
  share: number
  /** Family name first, as in Chinese. */
  firstNames: [string, string][]
  lastNames: [string, string][]
}

const names = (text: string): [string, string][] =>
  text.split(' ').map((pair) => {
    const [written, plain] = pair.split('/')
    return [written!, plain ?? written!.normalize('NFD').replace(/[^\w]/g, '').toLowerCase()]
  })

const LANGUAGES: Names[] = [
  {
    language: 'de-CH',
    share: 38,
    firstNames: names(
      'Anna Beat Claudia Daniel Elisabeth Fabian Gabriela Hans Jürg Karin Lukas Monika Nils Ursula Regula Thomas Vreni Zoë Noémie Matthias',
    ),
    lastNames: names(
      'Müller Meier Schmid Keller Weber Huber Schneider Steiner Fischer Gerber Brunner Baumann Frei Zimmermann Moser Hürlimann Rüegg Zürcher Bühler Käser',
    ),
  },
  {
    language: 'fr-CH',
    share: 12,
    firstNames: names('Hélène François Chloé Étienne Amélie Gaël Zélie Benoît'),
    lastNames: names('Favre Rochat Dubois Blanc Chevallaz Bonvin Crettenand Jaquiéry'),
  },
  {
    language: 'en',
    share: 14,
    firstNames: names('Olivia Jack Amelia Harry Siobhán/siobhan Callum Zara Dev'),
    lastNames: names('Smith Patel Jones Okafor O’Neill/oneill MacLeod Hughes Adeyemi'),
  },
  {
    language: 'es',
    share: 6,
    firstNames: names('Lucía Martín Begoña Íñigo Sofía Andrés'),
    lastNames: names('García Núñez Ibáñez Muñoz Peña Castaño'),
  },
  {
    language: 'pl',
    share: 5,
    firstNames: names(
      'Łukasz/lukasz Agnieszka Żaneta Michał/michal Stanisław/stanislaw Małgorzata/malgorzata',
    ),
    lastNames: names('Wójcik Kowalski Żółć/zolc Szczęsny Gąsior Błaszczyk/blaszczyk'),
  },
  {
    language: 'tr',
    share: 4,
    firstNames: names('Ayşe Çağla Ömer Şükrü Işıl/isil'),
    lastNames: names('Yılmaz/yilmaz Öztürk Şahin Çelik Aydoğan'),
  },
  {
    language: 'uk',
    share: 5,
    firstNames: names('Олена/olena Тарас/taras Ганна/hanna Юрій/yurii Світлана/svitlana'),
    lastNames: names(
      'Шевченко/shevchenko Коваль/koval Бондар/bondar Ткачук/tkachuk Мельник/melnyk',
    ),
  },
  {
    language: 'el',
    share: 3,
    firstNames: names('Ελένη/eleni Γιώργος/giorgos Δέσποινα/despina Νίκος/nikos'),
    lastNames: names('Παπαδοπούλου/papadopoulou Νικολάου/nikolaou Δημητρίου/dimitriou'),
  },
  {
    language: 'ar',
    share: 4,
    firstNames: names('ليلى/layla عمر/omar فاطمة/fatima يوسف/yusuf'),
    lastNames: names('حداد/haddad منصور/mansour الخطيب/alkhatib'),
  },
  {
    language: 'he',
    share: 2,
    firstNames: names('נועה/noa אורי/uri תמר/tamar'),
    lastNames: names('כהן/cohen לוי/levi מזרחי/mizrahi'),
  },
  {
    language: 'zh',
    share: 3,
    firstNames: names('秀英/xiuying 伟/wei 芳/fang 俊杰/junjie'),
    lastNames: names('王/wang 李/li 张/zhang 陈/chen'),
  },
  {
    language: 'ja',
    share: 2,
    firstNames: names('美咲/misaki 太郎/taro さくら/sakura'),
    lastNames: names('佐藤/sato 鈴木/suzuki 高橋/takahashi'),
  },
  {
    language: 'hi',
    share: 1,
    firstNames: names('प्रिया/priya अर्जुन/arjun'),
    lastNames: names('शर्मा/sharma गुप्ता/gupta'),
  },
  {
    language: 'th',
    share: 1,
    firstNames: names('สมชาย/somchai มาลี/mali'),
    lastNames: names('ใจดี/jaidee ทองคำ/thongkham'),
  },
]

const byLanguage = new Map(LANGUAGES.map((one) => [one.language, one]))
const shares = Object.fromEntries(LANGUAGES.map(({ language, share }) => [language, share]))

const ZONES: Record<string, string> = {
  uk: 'Europe/Kyiv',
  en: 'Europe/London',
  zh: 'Asia/Shanghai',
}

/** The `i`th client, of whom nobody exists: the domains are kept for examples. */
export function clientLine(i: number, dice: Dice) {
  const { language, firstNames, lastNames } = byLanguage.get(dice.weigh(shares))!
  const [firstName, plainFirst] = dice.pick(firstNames)
  const [lastName, plainLast] = dice.pick(lastNames)
  const domain = dice.pick(['example.com', 'example.org', 'example.net'])
  const level = dice.weigh({ none: 70, silver: 20, gold: 10 })
  return {
    kind: 'client',
    externalId: clientId(i),
    firstName,
    lastName,
    // A few are reached by telephone only.
    ...(dice.chance(0.95) ? { emailAddress: `${plainFirst}.${plainLast}${i}@${domain}` } : {}),
    ...(dice.chance(0.85)
      ? { phone: `+41 44 ${dice.between(200, 999)} ${two(dice)} ${two(dice)}` }
      : {}),
    ...(dice.chance(0.04) && ZONES[language] ? { timeZone: ZONES[language] } : {}),
    language,
    tags: {
      ...(level === 'none' ? {} : { level: [level] }),
      source: [dice.weigh({ web: 50, referral: 30, 'walk-in': 20 })],
    },
  }
}

export const clientId = (i: number) => `demo-client-${i}`

const two = (dice: Dice) => String(dice.between(0, 99)).padStart(2, '0')
