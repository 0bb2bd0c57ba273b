/** Column names used by other software, by field. */
const OTHER_NAMES: Record<string, string[]> = {
  externalId: ['id', 'no', 'nr', 'number', 'code', 'ref', 'reference'],
  firstName: ['forename', 'givenname', 'vorname', 'prenom', 'nombre'],
  lastName: ['surname', 'familyname', 'nachname', 'nom', 'apellido', 'apellidos'],
  name: ['title', 'label', 'bezeichnung'],
  emailAddress: ['email', 'mail', 'emailaddress', 'courriel', 'correo'],
  phone: ['telephone', 'tel', 'mobile', 'cell', 'telefon', 'handy'],
  startTime: ['start', 'starts', 'begin', 'from', 'beginn', 'von'],
  endTime: ['end', 'ends', 'to', 'until', 'ende', 'bis'],
  durationMinutes: ['duration', 'minutes', 'dauer'],
  price: ['amount', 'fee', 'preis'],
  clientExternalId: ['client', 'customer', 'patient', 'kunde', 'clientno', 'customerno'],
  professionalExternalId: ['staff', 'therapist', 'employee', 'professional', 'mitarbeiter'],
  reasonExternalId: ['service', 'treatment', 'reason', 'leistung'],
  locationExternalId: ['location', 'branch', 'site', 'standort'],
}

type Column = { column: string; field: string | null }

/** The most likely field of a column, or '' for none; the service's own guess comes first. */
export function guessField(column: string, columns: Column[], fields: string[]): string {
  const own = columns.find((one) => one.column === column)?.field
  if (own) return own
  const plain = column.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  const taken = new Set(columns.map(({ field }) => field))
  const found = fields.find((field) => OTHER_NAMES[field]?.includes(plain) && !taken.has(field))
  return found ?? ''
}
