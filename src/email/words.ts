/** The fixed texts of mails and of the pages behind their links, in the languages that we support. */
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
  passwordMail: {
    inviteSubject: string
    invites: string
    username: string
    resetSubject: string
    requested: string
    choose: string
    worksOnce: { INVITATION: string; FORGOTTEN: string }
    ignore: string
  }
  unsubscribePage: {
    title: string
    question: string
    button: string
    done: string
  }
}

/** `{address}` stands for the reader's address, `{business}`, `{user}` and `{inviter}` for names. */
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
  passwordMail: {
    inviteSubject: 'Your account at {business}',
    invites: '{inviter} invites you to use Bellwether for {business}.',
    username: 'Your username is {user}. Choose a password:',
    resetSubject: 'A new password for {business}',
    requested: 'A new password was requested for {user} at {business}.',
    choose: 'If you requested it, choose a new one:',
    worksOnce: {
      INVITATION: 'The link works once, within 7 days.',
      FORGOTTEN: 'The link works once, within an hour.',
    },
    ignore: 'If you did not expect this email, ignore it: nothing changes.',
  },
  unsubscribePage: {
    title: 'Unsubscribe',
    question: 'Stop sending these emails to {address}?',
    button: 'Unsubscribe',
    done: '{address} will no longer receive these emails.',
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
  passwordMail: {
    inviteSubject: 'Ihr Konto bei {business}',
    invites: '{inviter} lädt Sie ein, Bellwether für {business} zu benutzen.',
    username: 'Ihr Benutzername ist {user}. Wählen Sie ein Passwort:',
    resetSubject: 'Ein neues Passwort für {business}',
    requested: 'Für {user} bei {business} wurde ein neues Passwort angefordert.',
    choose: 'Wenn Sie es angefordert haben, wählen Sie ein neues:',
    worksOnce: {
      INVITATION: 'Der Link gilt einmal, innerhalb von 7 Tagen.',
      FORGOTTEN: 'Der Link gilt einmal, innerhalb einer Stunde.',
    },
    ignore:
      'Wenn Sie diese E-Mail nicht erwartet haben, können Sie sie ignorieren: Nichts ändert sich.',
  },
  unsubscribePage: {
    title: 'E-Mails abbestellen',
    question: 'Sollen wir diese E-Mails nicht mehr an {address} senden?',
    button: 'Abbestellen',
    done: '{address} erhält diese E-Mails nicht mehr.',
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
  passwordMail: {
    inviteSubject: 'Votre compte chez {business}',
    invites: '{inviter} vous invite à utiliser Bellwether pour {business}.',
    username: 'Votre nom d’utilisateur est {user}. Choisissez un mot de passe\u00a0:',
    resetSubject: 'Un nouveau mot de passe pour {business}',
    requested: 'Un nouveau mot de passe a été demandé pour {user} chez {business}.',
    choose: 'Si vous l’avez demandé, choisissez-en un nouveau\u00a0:',
    worksOnce: {
      INVITATION: 'Le lien fonctionne une seule fois, pendant 7 jours.',
      FORGOTTEN: 'Le lien fonctionne une seule fois, pendant une heure.',
    },
    ignore: 'Si vous n’attendiez pas cet e-mail, ignorez-le\u00a0: rien ne change.',
  },
  unsubscribePage: {
    title: 'Désinscription',
    question: 'Ne plus envoyer ces e-mails à {address}\u00a0?',
    button: 'Se désinscrire',
    done: '{address} ne recevra plus ces e-mails.',
  },
}

const WORDS: Record<string, Words> = { en, de, fr }

/** The text with these values in place of their names in braces. */
export const fillWords = (text: string, values: Record<string, string | number>) =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** The language of `wordsFor`. */
export const languageOfWords = (language: string | null | undefined) => {
  const base = (language ?? 'en').slice(0, 2).toLowerCase()
  return base in WORDS ? base : 'en'
}

/** The words of a language tag such as `de-CH`; English if we do not support the language. */
export const wordsFor = (language: string | null | undefined): Words =>
  WORDS[languageOfWords(language)]!
