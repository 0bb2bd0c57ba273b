/** What mails and the pages behind their links say by themselves, in the languages that we write. */
export type Words = {
  /** Between a label and its value. */
  colon: string
  /** Before the name of the member of staff. */
  staff: string
  client: string
  phone: string
  place: string
  localTime: string
  cancelled: string
  addToCalendar: string
  showMap: string
  unsubscribe: string
  test: string
  unsubscribePage: {
    title: string
    question: string
    button: string
    done: string
    invalid: string
  }
}

/** `{address}` stands for the reader's address. */
const en: Words = {
  colon: ':',
  staff: 'With',
  client: 'Client',
  phone: 'Phone',
  place: 'Where',
  localTime: 'Local time',
  cancelled: 'Cancelled',
  addToCalendar: 'Add to calendar',
  showMap: 'Show map',
  unsubscribe: 'Unsubscribe from these emails',
  test: 'Test',
  unsubscribePage: {
    title: 'Unsubscribe',
    question: 'Stop sending these emails to {address}?',
    button: 'Unsubscribe',
    done: '{address} will no longer receive these emails.',
    invalid: 'This unsubscribe link is not valid.',
  },
}

const de: Words = {
  colon: ':',
  staff: 'Bei',
  client: 'Für',
  phone: 'Telefon',
  place: 'Ort',
  localTime: 'Ortszeit',
  cancelled: 'Abgesagt',
  addToCalendar: 'In den Kalender eintragen',
  showMap: 'Karte anzeigen',
  unsubscribe: 'Diese E-Mails abbestellen',
  test: 'Test',
  unsubscribePage: {
    title: 'E-Mails abbestellen',
    question: 'Sollen wir diese E-Mails nicht mehr an {address} senden?',
    button: 'Abbestellen',
    done: '{address} erhält diese E-Mails nicht mehr.',
    invalid: 'Dieser Link zum Abbestellen ist nicht gültig.',
  },
}

const fr: Words = {
  colon: '\u00a0:',
  staff: 'Avec',
  client: 'Pour',
  phone: 'Téléphone',
  place: 'Lieu',
  localTime: 'Heure locale',
  cancelled: 'Annulé',
  addToCalendar: 'Ajouter au calendrier',
  showMap: 'Voir sur la carte',
  unsubscribe: 'Ne plus recevoir ces e-mails',
  test: 'Test',
  unsubscribePage: {
    title: 'Désinscription',
    question: 'Ne plus envoyer ces e-mails à {address} ?',
    button: 'Se désinscrire',
    done: '{address} ne recevra plus ces e-mails.',
    invalid: 'Ce lien de désinscription n’est pas valable.',
  },
}

const WORDS: Record<string, Words> = { en, de, fr }

/** The words of a language tag such as `de-CH`; English if we do not write the language. */
export const wordsFor = (language: string | null | undefined): Words =>
  WORDS[(language ?? 'en').slice(0, 2).toLowerCase()] ?? en
