import type { en } from './en.ts'
import type { Translated } from './keys.ts'

/** The German texts of the frame around the pages and of the sign-in. */
export const de: Translated<typeof en> = {
  navigation: {
    label: 'Hauptnavigation',
    today: 'Heute',
    calendar: 'Kalender',
    clients: 'Kunden',
    classes: 'Kurse',
    recalls: 'Wiedereinbestellungen',
    campaigns: 'Einladungen',
    forms: 'Formulare',
    automations: 'Automationen',
    templates: 'Vorlagen',
    activity: 'Verlauf',
    reports: 'Berichte',
    settings: 'Einstellungen',
    more: 'Mehr',
    find: 'Suchen …',
    skip: 'Zum Inhalt springen',
    failedToday: 'heute {{count}} fehlgeschlagen',
  },
  roles: {
    OWNER: 'Inhaber',
    ADMINISTRATOR: 'Administration',
    LOCATION_SUPER_USER: 'Standortleitung',
    USER: 'Mitarbeit',
    REPORTS_ONLY: 'Nur Berichte',
  },
  account: {
    signOut: 'Abmelden',
    useDark: 'Dunkle Farben',
    useLight: 'Helle Farben',
  },
  health: {
    well: 'Der Dienst läuft',
    noMail: 'Der Mailserver nimmt nichts an',
    unwell: 'Der Dienst braucht Aufmerksamkeit',
    unreachable: 'Der Dienst ist nicht erreichbar',
    parts: 'Versand · Datenbank',
    mailWaits: 'E-Mails warten in der Warteschlange',
    ready: 'Der Dienst ist bereit',
  },
  offline: {
    since: 'Keine Verbindung seit {{time}}.',
    meaning:
      'Sie sehen den Stand von damals; Änderungen lassen sich erst wieder speichern, wenn die Verbindung zurück ist.',
    nextTry: 'nächster Versuch in {{count}} s',
    trying: 'neuer Versuch …',
  },
  signIn: {
    title: 'Anmelden',
    lede: 'mit dem Namen, den Sie von Ihrer Administration erhalten haben.',
    username: 'Benutzername',
    password: 'Passwort',
    button: 'Anmelden',
    forgotten: 'Passwort vergessen?',
    firstStart: 'Erster Start?',
    firstStartHint: 'Das Terminal hat den Schlüssel des Betreibers einmal ausgegeben.',
    makeBusiness: 'Legen Sie damit Ihr Unternehmen an',
    operator: 'Für Betreiber des Dienstes',
    refused: 'Benutzername oder Passwort ist falsch.',
    tooMany: 'Zu viele Versuche. Versuchen Sie es in {{count}} s wieder.',
    sentence: '<u>Einen Tag vor</u> einem Termin eine E-Mail an <u>den Kunden</u> senden.',
    promise:
      'Schreiben Sie den Satz einmal. Bellwether plant jede Nachricht, sobald ein Termin gespeichert wird, verschiebt sie mit dem Termin, storniert sie, wenn der Termin abgesagt wird, und zeigt Ihnen, was geschehen ist.',
    apiDescription: 'API-Beschreibung',
  },
  errors: {
    title: 'Das konnte nicht geladen werden',
    list: 'Diese Liste konnte nicht geladen werden',
    page: 'Diese Seite konnte nicht geladen werden',
    notDone: 'Das war nicht möglich',
    request: 'Anfrage {{id}}',
    unavailable:
      'Der Dienst oder seine Datenbank hat nicht rechtzeitig geantwortet. Nichts geht verloren: Nachrichten werden gesendet, sobald er wieder antwortet.',
    offline: 'Der Dienst ist nicht erreichbar. Prüfen Sie Ihre Verbindung.',
    files:
      'Die Dateien der Seite konnten nicht geladen werden. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
    filesGone:
      'Die Dateien der Seite konnten nicht geladen werden. Bellwether wurde vermutlich aktualisiert: Versuchen Sie es noch einmal, um die neue Version zu laden.',
    forbidden: 'Ihre Rolle darf das nicht sehen.',
    notFound: 'Das gibt es nicht, oder Sie dürfen es nicht sehen.',
    tooMany: 'Zu viele Anfragen. Die Seite versucht es von selbst noch einmal.',
    again: 'Noch einmal versuchen',
    noRight: 'Ihre Rolle darf diese Seite nicht öffnen',
    noRightHint:
      'Inhaberinnen, Inhaber und Administratoren des Betriebs können sie öffnen oder Ihnen eine andere Rolle geben.',
    toStart: 'Zu Ihrer ersten Seite',
    pageMissing: 'Seite nicht gefunden',
    toToday: 'Zu Heute',
  },
  /** By the code of the answer; the others show the words of the service. */
  problems: {
    forbidden: 'Ihre Rolle darf das nicht.',
    'not-found': 'Es gibt das nicht mehr, oder Sie dürfen es nicht sehen.',
    'stale-version':
      'Jemand hat es inzwischen geändert. Laden Sie die Seite neu und wiederholen Sie Ihre Änderung.',
    gone: 'Der Link ist abgelaufen oder wurde schon benutzt.',
    'body-too-large': 'Es ist zu groß.',
    'request-timeout': 'Die Verbindung war zu langsam. Versuchen Sie es noch einmal.',
    'internal-error':
      'Der Dienst hat versagt. Versuchen Sie es noch einmal; sein Protokoll hat die Einzelheiten.',
    unavailable:
      'Der Dienst oder seine Datenbank hat nicht rechtzeitig geantwortet. Versuchen Sie es noch einmal.',
    conflict: 'In diesem Zustand ist das nicht möglich: {{detail}}',
    'invalid-input': 'Die Eingabe stimmt nicht: {{detail}}',
    mirrored: 'Ein Feed bestimmt darüber: {{detail}}',
    'too-many-mails': 'Zu viele E-Mails: {{detail}}',
    'secret-key-missing': 'Der Dienst kann keine Geheimnisse speichern: {{detail}}',
  },
}
