import type { ObjectKind } from '../contract/objects.ts'
import { RequestError } from '../errors.ts'
import { plainText } from '../matching/plain.ts'
import { isStatusWord } from '../matching/status-words.ts'
import { readAmount, readFlagOrTime } from './cells.ts'
import { readDuration, readHours, readWhen } from './dates.ts'
import { fieldKey, fieldsOf } from './fields.ts'

/**
 * The field of each column, guessed from its heading and its values; null for a column that is not
 * imported. No field is guessed for two columns.
 */
export function guessFields(
  kind: ObjectKind,
  header: string[],
  sample: string[][],
): (string | null)[] {
  if (header.length > MAX_COLUMNS) {
    throw new RequestError(
      422,
      `The file has ${header.length} columns; ${MAX_COLUMNS} are possible.`,
    )
  }
  const values = header.map((_, i) =>
    sample.map((cells) => (cells[i] ?? '').trim()).filter((cell) => cell !== ''),
  )
  const guess = guesserOf(kind)
  const fields = header.map((heading, i) => checked(guess(heading), values[i]!))
  const taken = new Set<string>()
  const unique = fields.map((field) => {
    if (field === null || taken.has(field)) return null
    taken.add(field)
    return field
  })
  if (kind.kind !== 'calendar') return unique
  // `Name` next to `First name` is the last name.
  const name = unique.indexOf('client')
  if (name !== -1 && taken.has('clientFirstName') && !taken.has('clientLastName')) {
    unique[name] = 'clientLastName'
  }
  return unique.map((field, i) => field ?? guessByValues(header[i]!, values[i]!, taken))
}

const MAX_COLUMNS = 1_000

/** How many headings are recognised: the header is not always the first row. */
export function countKnownHeadings(kind: ObjectKind, cells: string[]) {
  const guess = guesserOf(kind)
  return cells.slice(0, MAX_COLUMNS).filter((cell) => guess(cell) !== null).length
}

/** Returns the function that guesses the field of a heading. */
function guesserOf(kind: ObjectKind): (heading: string) => string | null {
  const own = new Map(fieldsOf(kind).map((name) => [fieldKey(name), name]))
  const guess =
    kind.kind === 'calendar' ? guessOfAppointment : (heading: string) => guessByName(kind, heading)
  return (heading) => {
    if (heading.length > MAX_HEADING) return null
    const field = own.get(fieldKey(heading))
    const isOwn = field !== undefined && (heading === field || !isExact(kind, field))
    return isOwn ? field : guess(heading)
  }
}

/** Longer headings are sentences. */
const MAX_HEADING = 200

/**
 * Fields that only exactly their name means: the text of a note is sent to clients, and the `Client ID` of
 * another system is the id of somebody else here.
 */
const isExact = (kind: ObjectKind, field: string) =>
  ['note', 'changeNote', kind.id].includes(field) ||
  kind.references.some(({ property }) => property === field)

const list = (text: string) => new Set(text.split(' '))

/** Headings of other software, without spaces, for kinds other than appointments. */
const OTHER_NAMES: Record<string, Set<string>> = {
  firstName: list('forename givenname vorname prenom nombre'),
  lastName: list('surname familyname nachname nom apellido apellidos'),
  name: list('title label bezeichnung'),
  emailAddress: list('email mail emailaddress courriel correo'),
  phone: list('telephone tel mobile cell telefon handy natel portable'),
  language: list('lang sprache langue idioma'),
  durationMinutes: list('duration minutes dauer duree'),
  price: list('amount fee preis prix'),
  startTime: list('start starts begin from beginn von'),
  endTime: list('end ends to until ende bis'),
  clientExternalId: list(
    'client customer patient kunde kundin clientid customerid patientid kundenid patientenid clientno clientnumber customerno customernumber patientno patientnumber kundennr kundennummer patientennr patientennummer numeroclient',
  ),
  professionalExternalId: list(
    'staff therapist employee professional mitarbeiter therapeut therapeutin behandler praticien',
  ),
  reasonExternalId: list('service treatment reason leistung behandlung prestation soin'),
  locationExternalId: list('location branch site standort filiale lieu'),
  externalId: list(
    'id no nr number nummer numero code ref reference clientid customerid patientid kundenid patientenid staffid serviceid locationid clientno clientnumber customerno customernumber patientno patientnumber kundennr kundennummer patientennr patientennummer numeroclient',
  ),
}

function guessByName(kind: ObjectKind, heading: string): string | null {
  const key = plainText(heading).replaceAll(' ', '')
  const fields = new Set(fieldsOf(kind))
  const found = Object.keys(OTHER_NAMES).find(
    (field) => fields.has(field) && OTHER_NAMES[field]!.has(key),
  )
  return found ?? null
}

const any = (...words: string[]) => `(?:${words.join('|')})`

const CLIENT = any(
  'client|customer|patient|patientin|invitee|guest|attendee|booker|participant|member|contact',
  'kunde|kundin|kunden|klient|klientin|gast|teilnehmer|teilnehmerin|besucher|patienten|patientinnen',
  'usager|beneficiaire|cliente|patiente',
)
const STAFF = any(
  'staff|staff member|employee|provider|therapist|practitioner|professional|clinician|doctor|agent|host',
  'team member|stylist|trainer|coach|instructor|calendar|assigned to|resource|user|with',
  'mitarbeiter|mitarbeiterin|mitarbeitende|therapeut|therapeutin|behandler|behandlerin|arzt|arztin',
  'kalender|ressource|angestellte|betreuer|betreuerin|bei',
  'praticien|praticienne|therapeute|collaborateur|collaboratrice|employe|intervenant|intervenante|agenda|soignant|medecin|avec',
)
const SERVICE = any(
  'service|treatment|appointment type|event type|booking type|type|session|session type|reason|offering|class',
  'leistung|dienstleistung|behandlung|terminart|termintyp|behandlungsart|angebot|anlass|art',
  'prestation|soin|motif|seance|rendez vous type|rdv type|acte|consultation motif',
)
const LOCATION = any(
  'location|branch|site|store|clinic|office|venue|place|business|business location',
  'standort|filiale|ort|praxis|salon|studio|niederlassung|lieu|etablissement|agence|cabinet|centre',
)
const BOOKING = any(
  'appointment|appt|booking|event|scheduled|session|visit|reservation',
  'termin|buchung|buchungs|reservierung|reservierungs|rendez vous|rdv',
)
const AT = '(?: ?(?:at|on|am|um))?'
const START = any('start|starts|begin|begins|from|beginn|beginnt|anfang|von|ab|debut|depart') + AT
const END = any('end|ends|until|till|to|bis|ende|endet|fin|finish|finishes') + AT
const DATE = any('date|datum|day|tag|jour')
const TIME = any('time|uhrzeit|zeit|heure|hour|uhr')
const NUMBER = any('id|no|nr|number|nummer|numero|code|ref|reference|referenz')
const NAME = any('name|names|full name|nom|nom complet')
const EMAIL = any('e ?mail', 'mail', 'courriel').concat('(?: ?(?:address|adresse|addresse))?')
const PHONE = any(
  'phone|phone number|telephone|tel|mobile|mobile number|cell|telefon|telefonnummer|handy|handynummer|natel|portable',
)

const DURATION = `(?:${any(BOOKING, SERVICE)} ?)?(?:duration|dauer|duree|length|minutes|minuten)`

const whole = (...parts: string[]) => new RegExp(`^(?:${parts.join('|')})$`)

/** Columns that look like others, but are not. */
const NOT_IMPORTED =
  /time ?zone|zeitzone|fuseau|remind|erinner|rappel|\butm|marketing|newsletter|question|response|answer|\bby\b|durch$|coupon|gutschein|certificate|\btax\b|mwst|\btva\b|pay|zahl|paiement|\bpaid|bezahlt|paye|deposit|birth|geburt|naissance|gender|geschlecht|sexe|street|strasse|\bcity\b|\bzip\b|\bplz\b|country|\blink\b|\burl\b|categor|kategorie|colou?r|farbe|couleur|modified|updated|geandert|modifie|cancellation(?! (?:date|time|on|at)$)|reason for|resched|\bteam$|group|person|capacity|\bcc\b|signed up|tracking|channel|\bsource|meeting|\bcustom\b|internal|intern|weekday|wochentag|all day|ganztag/

const RULES: [field: string, heading: RegExp][] = [
  [
    'cancelled',
    whole(
      `(?:is |was )?(?:cancell?ed|cancellation|storniert|storno|stornierung|abgesagt|absage|annulee?|annulation)(?: ?(?:${DATE}|${TIME}|at|on|am|le))?`,
    ),
  ],
  [
    'noShow',
    /no ?show|did not (?:arrive|attend|show)|nicht (?:erschienen|gekommen)|non venue?|^(?:absente?|dna)$/,
  ],
  [
    'bookedTime',
    /^(?:date scheduled|erfasst am)$|\b(?:created|booked|erstellt|gebucht|angelegt|cree)(?: |$)/,
  ],
  [
    'clientEmailAddress',
    whole(
      `(?:${CLIENT} ?)?${EMAIL}`,
      'required attendees|erforderliche teilnehmer|participants obligatoires',
    ),
  ],
  ['clientPhone', whole(`(?:${CLIENT} ?)?${PHONE}`)],
  ['clientFirstName', whole(`(?:${CLIENT} ?)?(?:first ?name|forename|given ?name|vorname|prenom)`)],
  [
    'clientLastName',
    whole(
      `(?:${CLIENT} ?)?(?:last ?name|surname|family ?name|nachname|familienname)|nom|nom de famille|famille nom`,
    ),
  ],
  ['clientExternalId', whole(`${CLIENT} ?${NUMBER}`)],
  ['client', whole(`${CLIENT}s?(?: ?${NAME})?`, '(?:full )?name', 'nom complet')],
  ['professionalEmailAddress', whole(`${STAFF} ?${EMAIL}`)],
  ['externalId', whole(NUMBER, `${BOOKING}s? ?${NUMBER}`, 'uid|uuid')],
  [
    'startTime',
    whole(
      `(?:${BOOKING} ?)?${START} ?${DATE} ?(?:and |und |et )?${TIME}`,
      `(?:${BOOKING} ?)?${DATE} ?(?:and |und |et )?${TIME}`,
      `${BOOKING}`,
      `(?:${BOOKING} ?)?${START}`,
    ),
  ],
  [
    'endTime',
    whole(`(?:${BOOKING} ?)?${END} ?${DATE} ?(?:and |und |et )?${TIME}`, `(?:${BOOKING} ?)?${END}`),
  ],
  ['endDate', whole(`(?:${BOOKING} ?)?${END} ?${DATE}`)],
  ['endTimeOfDay', whole(`(?:${BOOKING} ?)?${END} ?${TIME}`)],
  ['startDate', whole(`(?:${BOOKING} ?)?(?:${START} ?)?${DATE}`)],
  ['startTimeOfDay', whole(`(?:${BOOKING} ?)?(?:${START} ?)?${TIME}`)],
  ['durationHours', whole(`${DURATION} (?:in |en )?(?:h|hrs?|hours?|std|stunden|heures?)`)],
  ['durationMinutes', whole(`${DURATION}(?: (?:in |en )?(?:min|mins|mn|minutes|minuten))?`)],
  ['status', whole(`(?:${BOOKING} ?)?(?:status|state|zustand|statut|etat)`)],
  [
    'price',
    whole(
      `(?:${any(BOOKING, SERVICE)} ?)?(?:price|preis|prix|tarif|cost|fee|amount|betrag|montant)`,
    ),
  ],
  ['currency', whole('currency|wahrung|devise|monnaie')],
  ['professional', whole(`${STAFF}s?(?: ?${NAME})?`)],
  ['reason', whole(`${SERVICE}(?:s|en)?(?: ?${NAME})?`, `${BOOKING} ?${NAME}`)],
  ['location', whole(`(?:${any(BOOKING, 'consultation')} ?)?${LOCATION}s?(?: ?${NAME})?`)],
]

function guessOfAppointment(heading: string): string | null {
  const words = plainText(heading.replace(/([a-z])([A-Z])/g, '$1 $2'))
  if (words === '' || words.length > 60 || NOT_IMPORTED.test(words)) return null
  const turned = words.replace(/^(.+?) (?:du|de la|de l|des|der|de|d|of the|of|vom) (.+)$/, '$2 $1')
  const found = RULES.find(([, rule]) => rule.test(words) || rule.test(turned))?.[0]
  // `Patient (Name, Vorname)`, `Service/Class/Event`
  const [first = ''] = heading.split(/[(/]/, 1)
  return found ?? (first.length < heading.length ? guessOfAppointment(first) : null)
}

/** At least this share of the values must fit the field. */
const MOST = 0.6

/** With a known heading fewer are enough: rows may have faults. */
const SOME = 0.3

const most = (values: string[], fits: (value: string) => boolean, share = MOST) =>
  values.filter(fits).length >= values.length * share

/** A heading can be misleading: `Start Time` may be a time of day, and `Date` a date with a time. */
function checked(field: string | null, values: string[]): string | null {
  if (field === null || values.length === 0) return field
  switch (field) {
    case 'startTime':
    case 'startDate':
    case 'startTimeOfDay':
      return namedAfterValues('start', values, SOME)
    case 'endTime':
    case 'endDate':
    case 'endTimeOfDay':
      return namedAfterValues('end', values, SOME)
    case 'bookedTime':
      return most(values, (value) => readWhen(value, 'dmy') !== undefined, SOME) ? field : null
    case 'clientEmailAddress':
    case 'professionalEmailAddress':
      return most(values, (value) => value.includes('@'), SOME) ? field : null
    case 'durationMinutes':
      return most(values, (value) => readDuration(value) !== undefined, SOME) ? field : null
    case 'price':
      return most(values, (value) => typeof readAmount(value) === 'number', SOME) ? field : null
    case 'durationHours':
      return most(values, (value) => readHours(value) !== undefined, SOME) ? field : null
    case 'cancelled':
    case 'noShow':
      return most(values, (value) => readFlagOrTime(value) !== undefined, SOME) ? field : null
    case 'client':
      return most(values, (value) => /^[\d-]+$/.test(value)) ? 'clientExternalId' : field
    default:
      return field
  }
}

/** The part of the start or the end that the values are; null if they are none. */
function namedAfterValues(side: 'start' | 'end', values: string[], share = MOST) {
  const shapes = values.map((value) => readWhen(value, 'dmy') ?? readWhen(value, 'mdy'))
  if (shapes.filter(Boolean).length < values.length * share) return null
  const has = (part: 'instant' | 'date' | 'time') =>
    shapes.some((shape) => shape?.[part] !== undefined)
  if (has('instant') || (has('date') && has('time'))) return `${side}Time`
  return has('date') ? `${side}Date` : `${side}TimeOfDay`
}

const CLIENT_NAMES = ['client', 'clientFirstName', 'clientLastName']

/** A person in the title of a calendar's event: two to four words. */
const isName = (value: string) => /^\p{Lu}[\p{L}'’.-]*,?(?: [\p{L}'’.-]{2,}){1,3}$/u.test(value)

/** A column whose heading says nothing may still be recognised by what is in it. */
function guessByValues(heading: string, values: string[], taken: Set<string>): string | null {
  if (values.length === 0 || NOT_IMPORTED.test(plainText(heading))) return null
  const take = (field: string) => {
    taken.add(field)
    return field
  }
  if (!taken.has('clientEmailAddress') && !taken.has('client')) {
    if (most(values, (value) => value.includes('@') && value.includes('<'))) return take('client')
    if (most(values, (value) => value.includes('@'))) return take('clientEmailAddress')
  }
  if (!taken.has('status') && most(values, isStatusWord)) return take('status')
  const isTitle = /^(?:subject|betreff|objet|title|titel|titre|summary)$/.test(plainText(heading))
  if (isTitle && !CLIENT_NAMES.some((field) => taken.has(field)) && most(values, isName)) {
    return take('client')
  }
  if (taken.has('startTime') || /booked|created|updated/i.test(heading)) return null
  const field = values.every((value) => /[-./: ]/.test(value) && !/^\d*[.,]\d+$/.test(value))
    ? namedAfterValues('start', values)
    : null
  return field && !taken.has(field) && !(field === 'startTime' && taken.has('startDate'))
    ? take(field)
    : null
}
