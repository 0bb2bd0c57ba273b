import { currentLanguage, type Language } from '../texts/translate.ts'

/*
 * The names of fields and the reasons of refusals, which only the import says: every page would load them
 * with the other texts.
 */

const en = {
  fields: {
    client: 'Client',
    clientFirstName: 'First name of the client',
    clientLastName: 'Last name of the client',
    clientEmailAddress: 'Email address of the client',
    clientPhone: 'Phone of the client',
    clientExternalId: 'Number of the client in the other program',
    professional: 'Staff',
    professionalEmailAddress: 'Email address of the staff',
    reason: 'Service',
    location: 'Location',
    startTime: 'Start with date and time',
    startDate: 'Date',
    startTimeOfDay: 'Time',
    endTime: 'End with date and time',
    endDate: 'Date of the end',
    endTimeOfDay: 'Time of the end',
    durationHours: 'Duration in hours',
    status: 'Status',
    cancelled: 'Cancelled: yes, or since when',
    noShow: 'Did not come: yes',
    note: 'Note, which clients can read',
    bookedTime: 'Booked on',
    externalId: 'Number in the other program',
  },
  reasons: {
    noDate: '“{{value}}” is not a date or time: write it as {{example}}',
    noDuration: '“{{value}}” is not a duration: write minutes, such as 45',
    noAddress: '“{{value}}” is not an email address: correct it, or empty it',
    longName: '“{{value}}” is too long for a name: {{most}} characters are possible',
    noTimeOfDay: 'has no time of day: add one',
    noStart: 'has no start: add a date and a time',
    noEnd: 'has no end and no duration: add one, or a usual duration to its service',
    noClient: 'names no client: add a name or an email address',
    noProfessional: 'names no member of staff: choose one for rows without',
    noReason: 'names no service: choose one for rows without',
    noLocation: 'names no location: choose one for rows without',
    several: '“{{value}}” is the name of {{count}}: choose which one is meant',
    unknown: '“{{value}}” is not known: tick that it is created, or choose what is meant',
    forbidden: '“{{value}}” is not known, and you lack the right to create it',
    status: 'the status “{{value}}” is not known: say what it means',
    cells:
      'has {{found}} cells, but the header has {{expected}}: put text that contains the separator in quotes',
    notDecoded: 'has characters that cannot be read: save the file as “CSV UTF-8”',
    calendarFile:
      'This is a calendar file. Connect the calendar in Settings, Feeds, or export the appointments as CSV or XLSX.',
    noColumn:
      'No column is known: row {{row}} was taken as the header. Name the columns there, such as Date, Time, Client.',
    saveAgain:
      'This file cannot be read as a table. Open it in a spreadsheet and save it as .xlsx or CSV UTF-8.',
    quote: 'a quote is not closed, or text follows it: write it twice if it is part of the text',
  },
}

type Texts = { [Part in keyof typeof en]: Record<keyof (typeof en)[Part], string> }
export type Reason = keyof Texts['reasons']

const de: Texts = {
  fields: {
    client: 'Kunde',
    clientFirstName: 'Vorname des Kunden',
    clientLastName: 'Nachname des Kunden',
    clientEmailAddress: 'E-Mail-Adresse des Kunden',
    clientPhone: 'Telefon des Kunden',
    clientExternalId: 'Nummer des Kunden im anderen Programm',
    professional: 'Mitarbeitende',
    professionalEmailAddress: 'E-Mail-Adresse der Mitarbeitenden',
    reason: 'Leistung',
    location: 'Standort',
    startTime: 'Beginn mit Datum und Uhrzeit',
    startDate: 'Datum',
    startTimeOfDay: 'Uhrzeit',
    endTime: 'Ende mit Datum und Uhrzeit',
    endDate: 'Datum des Endes',
    endTimeOfDay: 'Uhrzeit des Endes',
    durationHours: 'Dauer in Stunden',
    status: 'Status',
    cancelled: 'Abgesagt: ja, oder seit wann',
    noShow: 'Nicht erschienen: ja',
    note: 'Notiz, die Kunden lesen können',
    bookedTime: 'Gebucht am',
    externalId: 'Nummer im anderen Programm',
  },
  reasons: {
    noDate: '„{{value}}“ ist kein Datum und keine Zeit: Schreiben Sie es wie {{example}}',
    noDuration: '„{{value}}“ ist keine Dauer: Schreiben Sie Minuten, zum Beispiel 45',
    noAddress: '„{{value}}“ ist keine E-Mail-Adresse: Berichtigen oder leeren Sie sie',
    longName: '„{{value}}“ ist zu lang für einen Namen: {{most}} Zeichen sind möglich',
    noTimeOfDay: 'hat keine Uhrzeit: Fügen Sie eine hinzu',
    noStart: 'hat keinen Beginn: Fügen Sie Datum und Uhrzeit hinzu',
    noEnd: 'hat weder Ende noch Dauer: Fügen Sie eines hinzu, oder der Leistung eine übliche Dauer',
    noClient: 'nennt keinen Kunden: Fügen Sie einen Namen oder eine E-Mail-Adresse hinzu',
    noProfessional: 'nennt niemanden vom Personal: Wählen Sie eine Person für solche Zeilen',
    noReason: 'nennt keine Leistung: Wählen Sie eine für solche Zeilen',
    noLocation: 'nennt keinen Standort: Wählen Sie einen für solche Zeilen',
    several: '„{{value}}“ heißen {{count}}: Wählen Sie, was gemeint ist',
    unknown: '„{{value}}“ gibt es nicht: Lassen Sie es anlegen, oder wählen Sie, was gemeint ist',
    forbidden: '„{{value}}“ gibt es nicht, und Sie haben nicht das Recht, es anzulegen',
    status: 'der Status „{{value}}“ ist nicht bekannt: Wählen Sie, was er bedeutet',
    cells:
      'hat {{found}} Zellen, die Kopfzeile aber {{expected}}: Setzen Sie Text mit dem Trennzeichen in Anführungszeichen',
    notDecoded: 'hat Zeichen, die nicht lesbar sind: Speichern Sie die Datei als „CSV UTF-8“',
    calendarFile:
      'Das ist eine Kalenderdatei. Binden Sie den Kalender unter Einstellungen, Anbindungen an, oder exportieren Sie die Termine als CSV oder XLSX.',
    noColumn:
      'Keine Spalte ist bekannt: Zeile {{row}} wurde als Kopfzeile genommen. Benennen Sie dort die Spalten, zum Beispiel Datum, Zeit, Kunde.',
    saveAgain:
      'Diese Datei ist nicht als Tabelle lesbar. Öffnen Sie sie in einer Tabellenkalkulation und speichern Sie sie als .xlsx oder CSV UTF-8.',
    quote:
      'ein Anführungszeichen ist offen, oder ihm folgt Text: Schreiben Sie es doppelt, wenn es zum Text gehört',
  },
}

const fr: Texts = {
  fields: {
    client: 'Client',
    clientFirstName: 'Prénom du client',
    clientLastName: 'Nom du client',
    clientEmailAddress: 'Adresse e-mail du client',
    clientPhone: 'Téléphone du client',
    clientExternalId: 'Numéro du client dans l’autre programme',
    professional: 'Personnel',
    professionalEmailAddress: 'Adresse e-mail du personnel',
    reason: 'Prestation',
    location: 'Site',
    startTime: 'Début avec date et heure',
    startDate: 'Date',
    startTimeOfDay: 'Heure',
    endTime: 'Fin avec date et heure',
    endDate: 'Date de fin',
    endTimeOfDay: 'Heure de fin',
    durationHours: 'Durée en heures',
    status: 'Statut',
    cancelled: 'Annulé : oui, ou depuis quand',
    noShow: 'Non venu : oui',
    note: 'Note, que les clients peuvent lire',
    bookedTime: 'Réservé le',
    externalId: 'Numéro dans l’autre programme',
  },
  reasons: {
    noDate: '« {{value}} » n’est ni une date ni une heure : écrivez comme {{example}}',
    noDuration: '« {{value}} » n’est pas une durée : écrivez des minutes, par exemple 45',
    noAddress: '« {{value}} » n’est pas une adresse e-mail : corrigez-la ou videz-la',
    longName: '« {{value}} » est trop long pour un nom : {{most}} caractères sont possibles',
    noTimeOfDay: 'n’a pas d’heure : ajoutez-en une',
    noStart: 'n’a pas de début : ajoutez une date et une heure',
    noEnd: 'n’a ni fin ni durée : ajoutez-en une, ou une durée habituelle à la prestation',
    noClient: 'ne nomme aucun client : ajoutez un nom ou une adresse e-mail',
    noProfessional: 'ne nomme personne du personnel : choisissez quelqu’un pour ces lignes',
    noReason: 'ne nomme aucune prestation : choisissez-en une pour ces lignes',
    noLocation: 'ne nomme aucun site : choisissez-en un pour ces lignes',
    several: '« {{value}} » est le nom de {{count}} : choisissez lequel',
    unknown: '« {{value}} » n’existe pas : faites-le créer, ou choisissez ce qui est visé',
    forbidden: '« {{value}} » n’existe pas, et vous n’avez pas le droit de le créer',
    status: 'le statut « {{value}} » n’est pas connu : choisissez sa signification',
    cells:
      'a {{found}} cellules, mais l’en-tête en a {{expected}} : mettez entre guillemets le texte qui contient le séparateur',
    notDecoded: 'a des caractères illisibles : enregistrez le fichier en « CSV UTF-8 »',
    calendarFile:
      'C’est un fichier de calendrier. Reliez le calendrier dans Réglages, Connexions, ou exportez les rendez-vous en CSV ou XLSX.',
    noColumn:
      'Aucune colonne n’est connue : la ligne {{row}} a été prise comme en-tête. Nommez-y les colonnes, par exemple Date, Heure, Client.',
    saveAgain:
      'Ce fichier n’est pas lisible comme tableau. Ouvrez-le dans un tableur et enregistrez-le en .xlsx ou CSV UTF-8.',
    quote: 'un guillemet est ouvert, ou suivi de texte : doublez-le s’il fait partie du texte',
  },
}

const TEXTS: Record<Language, Texts> = { en, de, fr }

export const reasonText = (reason: Reason) => TEXTS[currentLanguage()].reasons[reason]

/** Undefined for a field that has a name elsewhere. */
export function fieldText(field: string): string | undefined {
  const names: Partial<Record<string, string>> = TEXTS[currentLanguage()].fields
  return names[field]
}
