/** The fixed texts of mails with reports, in the languages that we support. */
export type ReportMailWords = {
  intro: string
  attached: string
  tooLarge: string
  timing: { DAILY: string; WEEKLY: string; MONTHLY: string }
}

const en: ReportMailWords = {
  intro: '{report} of {place}, {period}.',
  attached: 'The report is attached.',
  tooLarge:
    'The report has {size} MB, which is too large for a mail. Until {day} you can download it here:',
  timing: {
    DAILY: 'You get this mail every day at {time} ({zone}).',
    WEEKLY: 'You get this mail every {weekday} at {time} ({zone}).',
    MONTHLY: 'You get this mail on day {dayOfMonth} of every month at {time} ({zone}).',
  },
}

const de: ReportMailWords = {
  intro: '{report} von {place}, {period}.',
  attached: 'Der Bericht ist angehängt.',
  tooLarge:
    'Der Bericht hat {size} MB, zu viel für eine E-Mail. Bis {day} können Sie ihn hier herunterladen:',
  timing: {
    DAILY: 'Sie erhalten diese E-Mail täglich um {time} ({zone}).',
    WEEKLY: 'Sie erhalten diese E-Mail jeden {weekday} um {time} ({zone}).',
    MONTHLY: 'Sie erhalten diese E-Mail am {dayOfMonth}. jedes Monats um {time} ({zone}).',
  },
}

const fr: ReportMailWords = {
  intro: '{report} de {place}, {period}.',
  attached: 'Le rapport est joint.',
  tooLarge:
    'Le rapport a {size}\u00a0Mo, ce qui est trop pour un e-mail. Jusqu’au {day}, vous pouvez le télécharger ici\u00a0:',
  timing: {
    DAILY: 'Vous recevez cet e-mail tous les jours à {time} ({zone}).',
    WEEKLY: 'Vous recevez cet e-mail chaque {weekday} à {time} ({zone}).',
    MONTHLY: 'Vous recevez cet e-mail le {dayOfMonth} de chaque mois à {time} ({zone}).',
  },
}

const WORDS: Record<string, ReportMailWords> = { en, de, fr }

/** The words of a language of `languageOfWords`. */
export const reportMailWordsOf = (language: string): ReportMailWords => WORDS[language] ?? en
