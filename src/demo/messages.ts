/** The automations of the practice, each with the template that it sends. */

const CATEGORIES = [
  { name: 'Appointments', code: 'APPT', transactional: true },
  { name: 'Classes', code: 'CLASS', transactional: true },
  { name: 'News and offers', code: 'NEWS', transactional: false },
]

export const categoryLines = CATEGORIES.map((category, i) => ({
  kind: 'emailCategory',
  externalId: `demo-category-${i}`,
  ...category,
}))

const APPOINTMENT =
  '<strong>%REASON_NAME%</strong> with %PROFESSIONAL_FULLNAME%<br>%APPT_DATE%, %APPT_TIME% (%APPT_DURATION%)<br>%LOCATION_NAME%, %LOCATION_ADDRESS%'
const UNSUBSCRIBE = '<a href="%UNSUBSCRIBE_LINK%">No more of these</a>'
const INVITATION = { objectType: 'INVITATION_CAMPAIGN', objectExternalId: 'demo-campaign-1' }

type Message = {
  description: string
  eventTypeId: number
  /** The fields of the definition that differ from the defaults below. */
  definition?: object
  recipient?: 'staff'
  templateName: string
  /** Index into `CATEGORIES`. */
  category?: number
  subject: string
  paragraphs: string[]
}

const MESSAGES: Message[] = [
  {
    description: 'Confirm every booking',
    eventTypeId: 1,
    templateName: 'Booking confirmed',
    subject: 'Your appointment on %APPT_DATE%',
    paragraphs: ['thank you for booking with us.', APPOINTMENT, '%LOCATION_DIRECTIONS%'],
  },
  {
    description: 'Tell staff of a booking',
    eventTypeId: 1,
    recipient: 'staff',
    templateName: 'New appointment for staff',
    subject: 'New: %CLIENT_FULLNAME%, %APPT_DATE_TIME_STAFF%',
    paragraphs: [
      '%CLIENT_FULLNAME% has booked %REASON_NAME%.',
      '%APPT_DATE_TIME_STAFF%, %LOCATION_NAME%',
    ],
  },
  {
    description: 'Remind two days before',
    eventTypeId: 3,
    definition: { triggerHours: -48, offsetMode: 'CALENDAR' },
    templateName: 'Reminder two days before',
    subject: 'See you on %APPT_DATE% at %APPT_TIME%',
    paragraphs: [
      'we look forward to seeing you.',
      APPOINTMENT,
      'You cannot come? Call us: %LOCATION_PHONE%.',
    ],
  },
  {
    description: 'Remind members on the day',
    eventTypeId: 3,
    definition: { triggerHours: -2, filterTagMapJson: '{"level":["silver","gold"]}' },
    templateName: 'Reminder on the day',
    subject: 'Today at %APPT_TIME%: %REASON_NAME%',
    paragraphs: ['in two hours it is time.', APPOINTMENT],
  },
  {
    description: 'Say that it is cancelled',
    eventTypeId: 2,
    definition: { newStatus: 'CANCELLED' },
    templateName: 'Cancelled',
    subject: 'Cancelled: %APPT_DATE%, %APPT_TIME%',
    paragraphs: ['this appointment is cancelled.', APPOINTMENT, '%CHANGE_NOTE%'],
  },
  {
    description: 'After a no-show',
    eventTypeId: 2,
    definition: { newStatus: 'NO_SHOW' },
    templateName: 'We missed you',
    subject: 'We missed you',
    paragraphs: [
      'we waited for you at %APPT_TIME%.',
      'Call us for another time: %LOCATION_PHONE%.',
    ],
  },
  {
    description: 'Ask a day after the visit',
    eventTypeId: 3,
    definition: { triggerHours: 24, triggerAnchor: 'END' },
    templateName: 'How was it?',
    category: 2,
    subject: 'How was your %REASON_NAME%?',
    paragraphs: [
      'yesterday you were with %PROFESSIONAL_FULLNAME%. We would like to know how you are.',
      UNSUBSCRIBE,
    ],
  },
  {
    description: 'Remind students of their class',
    eventTypeId: 6,
    definition: { objectType: 'CLASS_SCHEDULE', triggerHours: -24 },
    templateName: 'Class tomorrow',
    category: 1,
    subject: '%CLASS_NAME% tomorrow at %CLASS_TIME%',
    paragraphs: ['tomorrow is %CLASS_NAME%: %CLASS_DATE%, %CLASS_TIME%, %LOCATION_NAME%.'],
  },
  {
    description: 'Send the invitation',
    eventTypeId: 7,
    definition: INVITATION,
    templateName: 'Invitation',
    category: 2,
    subject: '%INVITATION_CAMPAIGN%: your place',
    paragraphs: [
      '%INVITATION_DESCRIPTION%',
      '<a href="%INVITATION_LINK%">Choose your time</a> until %INVITATION_EXPIRES_DATE%.',
      UNSUBSCRIBE,
    ],
  },
  {
    description: 'Remind of the invitation',
    eventTypeId: 8,
    definition: { ...INVITATION, triggerHours: -72 },
    templateName: 'Invitation ends soon',
    category: 2,
    subject: 'Three days left: %INVITATION_CAMPAIGN%',
    paragraphs: [
      'your place is kept until %INVITATION_EXPIRES_DATE%.',
      '<a href="%INVITATION_LINK%">Choose your time</a>',
      UNSUBSCRIBE,
    ],
  },
  {
    description: 'Two weeks before a recall',
    eventTypeId: 10,
    definition: { objectType: 'RECALL', triggerHours: -14 * 24 },
    templateName: 'Time for a check-up',
    subject: 'It is time again',
    paragraphs: ['your next check-up is due on %RECALL_DATE%.', 'Call us: %BUSINESS_PHONE%.'],
  },
  {
    description: 'Ask for a signature',
    eventTypeId: 12,
    templateName: 'Please sign',
    subject: 'Please sign: %DISCLAIMER_NAME%',
    paragraphs: ['before your next visit we need your signature.', '%DISCLAIMER_BODY%'],
  },
  // A change that also cancels the appointment matches none of the next three.
  {
    description: 'Say that it was moved',
    eventTypeId: 2,
    definition: { changes: ['TIME', 'LOCATION'] },
    templateName: 'Moved',
    subject: 'New time: %APPT_DATE%, %APPT_TIME%',
    paragraphs: ['your appointment has a new time or place.', APPOINTMENT, '%CHANGE_NOTE%'],
  },
  {
    description: 'Say that it is confirmed',
    eventTypeId: 2,
    definition: { newStatus: 'CONFIRMED' },
    templateName: 'Confirmed',
    subject: 'Confirmed: %APPT_DATE%, %APPT_TIME%',
    paragraphs: ['thank you, your appointment is confirmed.', APPOINTMENT],
  },
  {
    description: 'Say who will see the client',
    eventTypeId: 2,
    definition: { changes: ['STAFF'] },
    templateName: 'Another therapist',
    subject: 'You will see %PROFESSIONAL_FULLNAME%',
    paragraphs: ['another member of our team will see you.', APPOINTMENT],
  },
]

const templateId = (i: number) => `demo-template-${i}`

export const templateLines = MESSAGES.map(
  ({ templateName, category = 0, subject, paragraphs, recipient }, i) => ({
    kind: 'emailTemplate',
    externalId: templateId(i),
    templateName,
    subject,
    emailBody: [
      recipient === 'staff' ? 'Dear %PROFESSIONAL_FIRSTNAME%,' : 'Dear %CLIENT_FULLNAME%,',
      ...paragraphs,
      '%BUSINESS_NAME%',
    ]
      .map((paragraph) => `<p>${paragraph}</p>`)
      .join('\n'),
    emailCategoryExternalId: `demo-category-${category}`,
    fromName: '%BUSINESS_NAME%',
    toAddress: recipient === 'staff' ? '%PROFESSIONAL_EMAIL%' : '%CLIENT_EMAILADDRESS%',
  }),
)

export const definitionLines = MESSAGES.map(
  ({ description, eventTypeId, definition, recipient = 'client' }, i) => ({
    kind: 'eventDefinition',
    active: true,
    description,
    objectType: 'CALENDAR',
    triggerHours: 0,
    triggerMinutes: 0,
    eventType: { eventTypeId },
    eventActions: [
      {
        actionType: 'SEND_EMAIL',
        active: true,
        emailTemplateExternalId: templateId(i),
        recipient: { value: recipient },
      },
    ],
    ...definition,
  }),
)
