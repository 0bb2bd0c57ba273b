/**
 * States of one object: English, German, French. They include the labels of the ready-made statuses. Elsewhere
 * the same English word can describe several objects, which needs another form in German and French.
 */
export const STATES: [en: string, de: string, fr: string][] = [
  ['Open', 'Offen', 'Ouvert'],
  ['Confirmed', 'Bestätigt', 'Confirmé'],
  ['Checked in', 'Angekommen', 'Arrivé'],
  ['In progress', 'Läuft', 'En cours'],
  ['Completed', 'Abgeschlossen', 'Terminé'],
  ['No-show', 'Nicht erschienen', 'Absent'],
  ['Cancelled', 'Abgesagt', 'Annulé'],
  ['Closed', 'Abgeschlossen', 'Clôturé'],
  ['Signed', 'Unterschrieben', 'Signé'],
  ['Present', 'Anwesend', 'Présent'],
  ['Came', 'Gekommen', 'Venu'],
  ['Active', 'Aktiv', 'Active'],
  ['Bounced', 'Zurückgekommen', 'Retourné'],
  ['Failed', 'Fehlgeschlagen', 'Échoué'],
  ['Fired', 'Ausgelöst', 'Déclenché'],
]
