import type { Business } from '../../src/contract/business.ts'
import type { DefinitionObjectType } from '../../src/contract/event-definition.ts'
import type { enPages } from '../texts/en-pages.ts'
import { buttonHtml, buttonOf } from '../templates/button-html.ts'
import { t } from '../texts/translate.ts'

/** A common automation with its mail. */
export type Recipe = {
  name:
    | 'confirm'
    | 'remindDays'
    | 'remindHours'
    | 'moved'
    | 'cancelled'
    | 'noShow'
    | 'review'
    | 'class'
    | 'recall'
    | 'form'
    | 'clientConfirmed'
    | 'clientCancelled'
    | 'clientReturns'
    | 'studentAnswered'
  /** The properties of the definition that differ from their defaults. */
  definition: {
    eventType: { eventTypeId: number }
    objectType: DefinitionObjectType
    triggerHours: number
  } & Record<string, unknown>
  /** The paragraphs of its mail. */
  paragraphs: Paragraph[]
  /** Who gets the mail; if unset, the client. */
  recipients?: ('staff' | 'business')[]
  /** Readers can unsubscribe from the mail. */
  isNews?: true
}

type Paragraph = 'text' | keyof (typeof enPages)['recipeMails']['parts'] | keyof typeof TOKENS

/** Paragraphs that are the same in every language. */
const TOKENS = {
  card: '%APPT_CARD%',
  changeNote: '%CHANGE_NOTE%',
} as const

/** The main action of a mail, and where it leads. */
const BUTTONS = {
  confirmIt: '%CONFIRM_URL%',
  bookOnline: '%RESCHEDULE_URL%',
  sign: '%SIGN_URL%',
} as const

/** The mail of a recipe in the language of the user, as HTML with tokens. */
export const mailOf = ({ name, paragraphs }: Recipe, accentColor: string | null) => ({
  templateName: t(`recipeMails.${name}.name`),
  subject: t(`recipeMails.${name}.subject`),
  emailBody: [
    ...paragraphs.map((one) => {
      if (one === 'text') return paragraph(t(`recipeMails.${name}.text`))
      if (isIn(TOKENS, one)) return paragraph(TOKENS[one])
      const text = t(`recipeMails.parts.${one}`)
      return isIn(BUTTONS, one)
        ? buttonHtml(buttonOf(BUTTONS[one], accentColor), text)
        : paragraph(text)
    }),
    paragraph('%BUSINESS_NAME%'),
  ].join('\n'),
})

const paragraph = (text: string) => `<p>${text}</p>`

const isIn = <T extends object>(all: T, name: PropertyKey): name is keyof T => name in all

const ofAppointment = (eventTypeId: number, triggerHours: number, more: object = {}) => ({
  eventType: { eventTypeId },
  objectType: 'CALENDAR' as const,
  triggerHours,
  allowPast: false,
  ...more,
})

/** How a client answers. Each link or button is left out if it has no address. */
const ANSWERS: Paragraph[] = ['confirmIt', 'cancelIt', 'otherTime']

/** The definition of a recipe with the statuses that the answer links of the business set. */
export const definitionOf = (
  { definition }: Recipe,
  { confirmStatus, cancelStatus }: Pick<Business, 'confirmStatus' | 'cancelStatus'>,
) => {
  if (!Array.isArray(definition.changes) || !definition.changes.includes('ANSWER'))
    return definition
  const statuses = { CONFIRMED: confirmStatus, CANCELLED: cancelStatus }
  const chosen = (['oldStatus', 'newStatus'] as const).flatMap((side) => {
    const status = definition[side]
    const set = status === 'CONFIRMED' || status === 'CANCELLED' ? statuses[status] : null
    return set ? [[side, set]] : []
  })
  return { ...definition, ...Object.fromEntries(chosen) }
}

const TEAM: Recipe['recipients'] = ['staff', 'business']

/** Tells staff and the business what a client answered by a link. */
const answered = (more: object) => ofAppointment(2, 0, { changes: ['ANSWER'], ...more })

export const RECIPES: Recipe[] = [
  {
    name: 'confirm',
    definition: ofAppointment(1, 0),
    paragraphs: ['greeting', 'text', 'card', 'cancelIt', 'otherTime', 'cannotCome'],
  },
  {
    name: 'remindDays',
    definition: ofAppointment(3, -48, { offsetMode: 'CALENDAR' }),
    paragraphs: ['greeting', 'text', 'card', ...ANSWERS, 'cannotCome'],
  },
  {
    name: 'remindHours',
    definition: ofAppointment(3, -2),
    paragraphs: ['greeting', 'text', 'card'],
  },
  {
    name: 'moved',
    definition: ofAppointment(2, 0, { changes: ['TIME'] }),
    paragraphs: ['greeting', 'text', 'card', 'changeNote', ...ANSWERS, 'cannotCome'],
  },
  {
    name: 'cancelled',
    definition: ofAppointment(2, 0, { newStatus: 'CANCELLED' }),
    paragraphs: ['greeting', 'text', 'card', 'changeNote', 'bookOnline', 'bookAgain'],
  },
  {
    name: 'noShow',
    definition: ofAppointment(2, 0, { newStatus: 'NO_SHOW' }),
    paragraphs: ['greeting', 'text', 'bookOnline', 'bookAgain'],
  },
  {
    name: 'review',
    definition: ofAppointment(3, 24, { triggerAnchor: 'END' }),
    paragraphs: ['greeting', 'text', 'unsubscribe'],
    isNews: true,
  },
  {
    name: 'class',
    definition: {
      eventType: { eventTypeId: 6 },
      objectType: 'CLASS_SCHEDULE',
      triggerHours: -24,
      allowPast: false,
    },
    paragraphs: ['greeting', 'text', 'card', 'confirmIt', 'cancelIt', 'cannotCome'],
  },
  {
    name: 'recall',
    definition: { eventType: { eventTypeId: 10 }, objectType: 'RECALL', triggerHours: -168 },
    paragraphs: ['greeting', 'text', 'bookOnline', 'bookIt'],
  },
  {
    name: 'form',
    definition: { eventType: { eventTypeId: 12 }, objectType: 'CALENDAR', triggerHours: 48 },
    paragraphs: ['greeting', 'text', 'sign'],
  },
  {
    name: 'clientConfirmed',
    // A cancellation that is taken back may lead to CONFIRMED again, and has a recipe of its own.
    definition: answered({ oldStatus: 'OPEN', newStatus: 'CONFIRMED' }),
    paragraphs: ['text', 'card'],
    recipients: TEAM,
  },
  {
    name: 'clientCancelled',
    definition: answered({ newStatus: 'CANCELLED' }),
    paragraphs: ['text', 'card', 'reason'],
    recipients: TEAM,
  },
  {
    name: 'clientReturns',
    definition: answered({ oldStatus: 'CANCELLED' }),
    paragraphs: ['text', 'card'],
    recipients: TEAM,
  },
  {
    name: 'studentAnswered',
    definition: {
      eventType: { eventTypeId: 5 },
      objectType: 'CLASS_SCHEDULE',
      triggerHours: 0,
      allowPast: false,
      changes: ['ANSWER'],
    },
    paragraphs: ['text', 'card', 'reason'],
    recipients: TEAM,
  },
]
