import type { Answer } from '../../email/answer-links.ts'

type Words = { title: string; lines: string[] }

/** The words of the answer pages in one language. */
export type AnswerTexts = {
  asks: Record<Answer, Words>
  done: Record<Answer, Words>
  button: Record<Answer, string>
  tooLate(hours: number): Words
  moved: Words
  over: Words
  closed: Words
  unknown: { title: string; text: string }
  what: string
  when: string
  who: string
  where: string
  bookAgain: string
  contact: string
}

const en: AnswerTexts = {
  asks: {
    confirm: { title: 'Will you come?', lines: ['Please confirm your appointment.'] },
    cancel: { title: 'Cancel your appointment?', lines: ['We will give your time to others.'] },
  },
  done: {
    confirm: {
      title: 'Thank you, your appointment is confirmed.',
      lines: ['We look forward to seeing you.'],
    },
    cancel: { title: 'Your appointment is cancelled.', lines: ['Thank you for letting us know.'] },
  },
  button: { confirm: 'Yes, I will come', cancel: 'Yes, cancel it' },
  tooLate: (hours) => ({
    title: 'Please call us to cancel.',
    lines: [
      `Appointments can be cancelled online until ${hours} ${hours === 1 ? 'hour' : 'hours'} before they start.`,
    ],
  }),
  moved: {
    title: 'This link is for an earlier time.',
    lines: [
      'Your appointment has been moved since we wrote. Please use the link in our latest email.',
    ],
  },
  over: {
    title: 'This link has expired.',
    lines: ['The appointment has already begun, so it can no longer be answered here.'],
  },
  closed: {
    title: 'This appointment can no longer be changed here.',
    lines: ['It may have been cancelled or completed. Please contact us if that is not right.'],
  },
  unknown: {
    title: 'This link is not valid.',
    text: 'Please open the link again from the email that we sent you, or contact us.',
  },
  what: 'What',
  when: 'When',
  who: 'With',
  where: 'Where',
  bookAgain: 'Choose another time',
  contact: 'Questions?',
}

const de: AnswerTexts = {
  asks: {
    confirm: { title: 'Kommen Sie?', lines: ['Bitte bestätigen Sie Ihren Termin.'] },
    cancel: { title: 'Termin absagen?', lines: ['Wir geben Ihren Platz dann an andere weiter.'] },
  },
  done: {
    confirm: {
      title: 'Danke, Ihr Termin ist bestätigt.',
      lines: ['Wir freuen uns auf Sie.'],
    },
    cancel: { title: 'Ihr Termin ist abgesagt.', lines: ['Danke, dass Sie uns Bescheid geben.'] },
  },
  button: { confirm: 'Ja, ich komme', cancel: 'Ja, absagen' },
  tooLate: (hours) => ({
    title: 'Bitte rufen Sie uns an, um abzusagen.',
    lines: [
      `Online können Termine bis ${hours} ${hours === 1 ? 'Stunde' : 'Stunden'} vor Beginn abgesagt werden.`,
    ],
  }),
  moved: {
    title: 'Dieser Link gilt für eine frühere Zeit.',
    lines: [
      'Ihr Termin wurde seither verschoben. Bitte verwenden Sie den Link in unserer neuesten E-Mail.',
    ],
  },
  over: {
    title: 'Dieser Link ist abgelaufen.',
    lines: ['Der Termin hat bereits begonnen und kann hier nicht mehr beantwortet werden.'],
  },
  closed: {
    title: 'Dieser Termin kann hier nicht mehr geändert werden.',
    lines: [
      'Er wurde vielleicht abgesagt oder abgeschlossen. Bitte melden Sie sich, wenn das nicht stimmt.',
    ],
  },
  unknown: {
    title: 'Dieser Link ist nicht gültig.',
    text: 'Bitte öffnen Sie den Link noch einmal aus unserer E-Mail, oder melden Sie sich bei uns.',
  },
  what: 'Was',
  when: 'Wann',
  who: 'Bei',
  where: 'Wo',
  bookAgain: 'Einen anderen Termin wählen',
  contact: 'Fragen?',
}

const fr: AnswerTexts = {
  asks: {
    confirm: { title: 'Serez-vous là ?', lines: ['Merci de confirmer votre rendez-vous.'] },
    cancel: {
      title: 'Annuler votre rendez-vous ?',
      lines: ['Nous proposerons alors votre place à d’autres personnes.'],
    },
  },
  done: {
    confirm: {
      title: 'Merci, votre rendez-vous est confirmé.',
      lines: ['Nous nous réjouissons de vous accueillir.'],
    },
    cancel: { title: 'Votre rendez-vous est annulé.', lines: ['Merci de nous avoir prévenus.'] },
  },
  button: { confirm: 'Oui, je viens', cancel: 'Oui, annuler' },
  tooLate: (hours) => ({
    title: 'Veuillez nous appeler pour annuler.',
    lines: [
      `Un rendez-vous peut être annulé en ligne jusqu’à ${hours} ${hours <= 1 ? 'heure' : 'heures'} avant le début.`,
    ],
  }),
  moved: {
    title: 'Ce lien concerne une heure antérieure.',
    lines: [
      'Votre rendez-vous a été déplacé depuis. Veuillez utiliser le lien de notre dernier e-mail.',
    ],
  },
  over: {
    title: 'Ce lien a expiré.',
    lines: ['Le rendez-vous a déjà commencé ; il n’est plus possible de répondre ici.'],
  },
  closed: {
    title: 'Ce rendez-vous ne peut plus être modifié ici.',
    lines: ['Il a peut-être été annulé ou terminé. Contactez-nous si ce n’est pas correct.'],
  },
  unknown: {
    title: 'Ce lien n’est pas valable.',
    text: 'Veuillez rouvrir le lien depuis notre e-mail, ou nous contacter.',
  },
  what: 'Quoi',
  when: 'Quand',
  who: 'Avec',
  where: 'Où',
  bookAgain: 'Choisir une autre date',
  contact: 'Des questions ?',
}

export const ANSWER_TEXTS = { en, de, fr }
