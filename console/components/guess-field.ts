const words = (text: string) => text.split(' ')

/** In a file of clients their own number, in any other file the client that a row is about. */
const NUMBERS_OF_CLIENTS =
  'clientno clientnumber customerno customernumber patientno patientnumber kundennr kundennummer ' +
  'patientennr patientennummer numeroclient'

/** Column names used by other software, by field. */
const OTHER_NAMES: Record<string, string[]> = {
  externalId: words(`id no nr number nummer numero code ref reference ${NUMBERS_OF_CLIENTS}`),
  firstName: words('forename givenname vorname prenom nombre'),
  lastName: words('surname familyname nachname nom apellido apellidos'),
  name: words('title label bezeichnung'),
  emailAddress: words('email mail emailaddress courriel correo'),
  phone: words('telephone tel mobile cell telefon handy natel portable'),
  language: words('lang sprache langue idioma'),
  note: words('notes comment notiz bemerkung remarque'),
  startTime: words('start starts begin from beginn von'),
  endTime: words('end ends to until ende bis'),
  durationMinutes: words('duration minutes dauer'),
  price: words('amount fee preis'),
  clientExternalId: words(`client customer patient kunde kundin ${NUMBERS_OF_CLIENTS}`),
  professionalExternalId: words(
    'staff therapist employee professional mitarbeiter therapeut therapeutin behandler praticien',
  ),
  reasonExternalId: words('service treatment reason leistung behandlung prestation soin'),
  locationExternalId: words('location branch site standort filiale lieu'),
}

type Column = { column: string; field: string | null }

/** The most likely field of a column, or '' for none; the service's own guess comes first. */
export function guessField(column: string, columns: Column[], fields: string[]): string {
  const own = columns.find((one) => one.column === column)?.field
  if (own) return own
  const plain = column
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
  const taken = new Set(columns.map(({ field }) => field))
  const found = fields.filter((field) => OTHER_NAMES[field]?.includes(plain) && !taken.has(field))
  return found.find((field) => field !== 'externalId') ?? found[0] ?? ''
}
