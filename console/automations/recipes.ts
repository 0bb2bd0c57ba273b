import type { DefinitionObjectType } from '../../src/contract/event-definition.ts'

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
  /** The properties of the definition that differ from their defaults. */
  definition: {
    eventType: { eventTypeId: number }
    objectType: DefinitionObjectType
    triggerHours: number
  } & Record<string, unknown>
  mail: {
    templateName: string
    subject: string
    /** Each is a paragraph of HTML with tokens. */
    paragraphs: string[]
    /** Readers can unsubscribe from it. */
    isNews?: true
  }
}

const GREETING = 'Dear %CLIENT_FIRSTNAME%,'
const VISIT =
  '<strong>%REASON_NAME%</strong> with %PROFESSIONAL_FULLNAME%<br>%APPT_DATE%, %APPT_TIME% (%APPT_DURATION%)<br>%LOCATION_NAME%, %LOCATION_ADDRESS%'
const CANNOT_COME = 'If you cannot come, please call us: %LOCATION_PHONE%.'

const ofAppointment = (eventTypeId: number, triggerHours: number, more: object = {}) => ({
  eventType: { eventTypeId },
  objectType: 'CALENDAR' as const,
  triggerHours,
  ...more,
})

export const RECIPES: Recipe[] = [
  {
    name: 'confirm',
    definition: ofAppointment(1, 0),
    mail: {
      templateName: 'Booking confirmed',
      subject: 'Your appointment on %APPT_DATE% at %APPT_TIME%',
      paragraphs: [GREETING, 'thank you for your booking.', VISIT, CANNOT_COME],
    },
  },
  {
    name: 'remindDays',
    definition: ofAppointment(3, -48, { offsetMode: 'CALENDAR' }),
    mail: {
      templateName: 'Reminder 2 days before',
      subject: 'See you on %APPT_DATE% at %APPT_TIME%',
      paragraphs: [GREETING, 'we look forward to seeing you.', VISIT, CANNOT_COME],
    },
  },
  {
    name: 'remindHours',
    definition: ofAppointment(3, -2),
    mail: {
      templateName: 'Reminder 2 hours before',
      subject: 'Today at %APPT_TIME%: %REASON_NAME%',
      paragraphs: [GREETING, 'see you in two hours.', VISIT],
    },
  },
  {
    name: 'moved',
    definition: ofAppointment(2, 0, { changes: ['TIME'] }),
    mail: {
      templateName: 'Appointment moved',
      subject: 'New time: %APPT_DATE% at %APPT_TIME%',
      paragraphs: [
        GREETING,
        'your appointment has a new time.',
        VISIT,
        '%CHANGE_NOTE%',
        CANNOT_COME,
      ],
    },
  },
  {
    name: 'cancelled',
    definition: ofAppointment(2, 0, { newStatus: 'CANCELLED' }),
    mail: {
      templateName: 'Appointment cancelled',
      subject: 'Cancelled: %APPT_DATE% at %APPT_TIME%',
      paragraphs: [
        GREETING,
        'this appointment is cancelled.',
        VISIT,
        '%CHANGE_NOTE%',
        'To book another time, call us: %LOCATION_PHONE%.',
      ],
    },
  },
  {
    name: 'noShow',
    definition: ofAppointment(2, 0, { newStatus: 'NO_SHOW' }),
    mail: {
      templateName: 'We missed you',
      subject: 'We missed you today',
      paragraphs: [
        GREETING,
        'you had an appointment with us on %APPT_DATE% at %APPT_TIME%.',
        'To book another time, call us: %LOCATION_PHONE%.',
      ],
    },
  },
  {
    name: 'review',
    definition: ofAppointment(3, 24, { triggerAnchor: 'END' }),
    mail: {
      templateName: 'How was it?',
      subject: 'How was your %REASON_NAME%?',
      paragraphs: [
        GREETING,
        'thank you for your visit. How was it with %PROFESSIONAL_FULLNAME%? Answer this mail: we read every line.',
        '<a href="%UNSUBSCRIBE_LINK%">Send me no more of these</a>',
      ],
      isNews: true,
    },
  },
  {
    name: 'class',
    definition: { eventType: { eventTypeId: 6 }, objectType: 'CLASS_SCHEDULE', triggerHours: -24 },
    mail: {
      templateName: 'Class tomorrow',
      subject: '%CLASS_NAME%: %CLASS_DATE% at %CLASS_TIME%',
      paragraphs: [
        GREETING,
        '<strong>%CLASS_NAME%</strong><br>%CLASS_DATE%, %CLASS_TIME%<br>%LOCATION_NAME%, %LOCATION_ADDRESS%',
        CANNOT_COME,
      ],
    },
  },
  {
    name: 'recall',
    definition: { eventType: { eventTypeId: 10 }, objectType: 'RECALL', triggerHours: -168 },
    mail: {
      templateName: 'Time for your next visit',
      subject: 'It is time for your next visit',
      paragraphs: [
        GREETING,
        'your next visit is due on %RECALL_DATE%.',
        'To book it, call us: %BUSINESS_PHONE%.',
      ],
    },
  },
  {
    name: 'form',
    definition: { eventType: { eventTypeId: 12 }, objectType: 'CALENDAR', triggerHours: 48 },
    mail: {
      templateName: 'Please sign',
      subject: 'Please sign: %DISCLAIMER_NAME%',
      paragraphs: [
        GREETING,
        'we still need your signature on “%DISCLAIMER_NAME%” before your next visit.',
        '%DISCLAIMER_BODY%',
      ],
    },
  },
]
