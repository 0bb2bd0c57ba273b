/** The sentences of `summary.ts` in the languages that we support. */
export type SummaryWords = {
  figure: string
  headline: { more: string; less: string; same: string }
  /** Sentences for a period that has not ended. */
  soFar: { more: string; less: string; same: string }
  better: string
  worse: string
  unchanged: string
  noEarlierPeriod: string
  inFuture: string
  peak: string
  week: string
  points: string
  nothing: string
}

const en: SummaryWords = {
  figure: '{label}: {figure}.',
  headline: {
    more: '{label}: {figure}, {delta} more than in the period before ({previous}).',
    less: '{label}: {figure}, {delta} less than in the period before ({previous}).',
    same: '{label}: {figure}, as many as in the period before.',
  },
  soFar: {
    more: '{label}: {figure}, of which {soFar} so far, {delta} more than at the same point before ({previous}).',
    less: '{label}: {figure}, of which {soFar} so far, {delta} less than at the same point before ({previous}).',
    same: '{label}: {figure}, of which {soFar} so far, as many as at the same point before.',
  },
  better: 'Improved most: {label}, now {figure} after {previous}.',
  worse: 'Declined most: {label}, now {figure} after {previous}.',
  unchanged: 'No other figure became better or worse.',
  noEarlierPeriod: 'There is no complete earlier period to compare it with.',
  inFuture: 'The period has not begun, so there is nothing to compare it with.',
  peak: '{title}: the most is {label} with {figure}.',
  week: 'the week from {day}',
  points: '{figure} percentage points',
  nothing: 'There is nothing in this period.',
}

const de: SummaryWords = {
  figure: '{label}: {figure}.',
  headline: {
    more: '{label}: {figure}, {delta} mehr als im Zeitraum davor ({previous}).',
    less: '{label}: {figure}, {delta} weniger als im Zeitraum davor ({previous}).',
    same: '{label}: {figure}, so viel wie im Zeitraum davor.',
  },
  soFar: {
    more: '{label}: {figure}, davon bisher {soFar}, {delta} mehr als davor bis zum gleichen Zeitpunkt ({previous}).',
    less: '{label}: {figure}, davon bisher {soFar}, {delta} weniger als davor bis zum gleichen Zeitpunkt ({previous}).',
    same: '{label}: {figure}, davon bisher {soFar}, so viel wie davor bis zum gleichen Zeitpunkt.',
  },
  better: 'Am meisten verbessert: {label}, jetzt {figure} nach {previous}.',
  worse: 'Am meisten verschlechtert: {label}, jetzt {figure} nach {previous}.',
  unchanged: 'Keine andere Zahl wurde besser oder schlechter.',
  noEarlierPeriod: 'Es gibt keinen vollständigen früheren Zeitraum zum Vergleich.',
  inFuture: 'Der Zeitraum hat noch nicht begonnen, es gibt noch nichts zu vergleichen.',
  peak: '{title}: am meisten {label} mit {figure}.',
  week: 'die Woche ab {day}',
  points: '{figure} Prozentpunkte',
  nothing: 'In diesem Zeitraum gibt es nichts.',
}

const fr: SummaryWords = {
  figure: '{label}\u00a0: {figure}.',
  headline: {
    more: '{label}\u00a0: {figure}, {delta} de plus que pendant la période précédente ({previous}).',
    less: '{label}\u00a0: {figure}, {delta} de moins que pendant la période précédente ({previous}).',
    same: '{label}\u00a0: {figure}, autant que pendant la période précédente.',
  },
  soFar: {
    more: '{label}\u00a0: {figure}, dont {soFar} jusqu’ici, {delta} de plus qu’au même moment de la période précédente ({previous}).',
    less: '{label}\u00a0: {figure}, dont {soFar} jusqu’ici, {delta} de moins qu’au même moment de la période précédente ({previous}).',
    same: '{label}\u00a0: {figure}, dont {soFar} jusqu’ici, autant qu’au même moment de la période précédente.',
  },
  better: 'Plus forte amélioration\u00a0: {label}, {figure} après {previous}.',
  worse: 'Plus forte baisse de qualité\u00a0: {label}, {figure} après {previous}.',
  unchanged: 'Aucun autre chiffre ne s’est amélioré ni dégradé.',
  noEarlierPeriod: 'Il n’y a pas de période antérieure complète à comparer.',
  inFuture: 'La période n’a pas commencé, il n’y a encore rien à comparer.',
  peak: '{title}\u00a0: le maximum est {label} avec {figure}.',
  week: 'la semaine du {day}',
  points: '{figure} points de pourcentage',
  nothing: 'Il n’y a rien pendant cette période.',
}

const WORDS: Record<string, SummaryWords> = { en, de, fr }

/** The words of a language tag such as `de-CH`; English if we do not support the language. */
export const summaryWordsOf = (locale: string): SummaryWords =>
  WORDS[locale.slice(0, 2).toLowerCase()] ?? en
