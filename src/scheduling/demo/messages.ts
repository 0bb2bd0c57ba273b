/** What the practice writes, and when. */

const CATEGORIES = [
  { name: 'Appointments', code: 'APPT', transactional: true },
  { name: 'Classes', code: 'CLASS', transactional: true },
  { name: 'News and offers', code: 'NEWS', transactional: false },
]

export const categoryLines = () =>
  CATEGORIES.map((category, i) => ({
    kind: 'emailCategory',
    externalId: `demo-category-${i}`,
    ...category,
  }))

type Letter = {
  name: string
  category: number
  subject: string
  paragraphs: string[]
  staff?: true
}

const APPOINTMENT =
  '<strong>%REASON_NAME%</strong> with %PROFESSIONAL_FULLNAME%<br>%APPT_DATE%, %APPT_TIME% (%APPT_DURATION%)<br>%LOCATION_NAME%, %LOCATION_ADDRESS%'

const LETTERS: Letter[] = [
  {
    name: 'Booking confirmed',
    category: 0,
    subject: 'Your appointment on %APPT_DATE%',
    paragraphs: ['thank you for booking with us.', APPOINTMENT, '%LOCATION_DIRECTIONS%'],
  },
  {
    name: 'New appointment for staff',
    category: 0,
    subject: 'New: %CLIENT_FULLNAME%, %APPT_DATE_TIME_STAFF%',
    paragraphs: [
      '%CLIENT_FULLNAME% has booked %REASON_NAME%.',
      '%APPT_DATE_TIME_STAFF%, %LOCATION_NAME%',
    ],
    staff: true,
  },
  {
    name: 'Reminder two days before',
    category: 0,
    subject: 'See you on %APPT_DATE% at %APPT_TIME%',
    paragraphs: [
      'we look forward to seeing you.',
      APPOINTMENT,
      'You cannot come? Call us: %LOCATION_PHONE%.',
    ],
  },
  {
    name: 'Reminder on the day',
    category: 0,
    subject: 'Today at %APPT_TIME%: %REASON_NAME%',
    paragraphs: ['in two hours it is time.', APPOINTMENT],
  },
  {
    name: 'Cancelled',
    category: 0,
    subject: 'Cancelled: %APPT_DATE%, %APPT_TIME%',
    paragraphs: ['this appointment is cancelled.', APPOINTMENT, '%CHANGE_NOTE%'],
  },
  {
    name: 'We missed you',
    category: 0,
    subject: 'We missed you',
    paragraphs: [
      'we waited for you at %APPT_TIME%.',
      'Call us for another time: %LOCATION_PHONE%.',
    ],
  },
  {
    name: 'How was it?',
    category: 2,
    subject: 'How was your %REASON_NAME%?',
    paragraphs: [
      'yesterday you were with %PROFESSIONAL_FULLNAME%. We would like to know how you are.',
      '<a href="%UNSUBSCRIBE_LINK%">No more of these</a>',
    ],
  },
  {
    name: 'Class tomorrow',
    category: 1,
    subject: '%CLASS_NAME% tomorrow at %CLASS_TIME%',
    paragraphs: ['tomorrow is %CLASS_NAME%: %CLASS_DATE%, %CLASS_TIME%, %LOCATION_NAME%.'],
  },
  {
    name: 'Invitation',
    category: 2,
    subject: '%INVITATION_CAMPAIGN%: your place',
    paragraphs: [
      '%INVITATION_DESCRIPTION%',
      '<a href="%INVITATION_LINK%">Choose your time</a> until %INVITATION_EXPIRES_DATE%.',
      '<a href="%UNSUBSCRIBE_LINK%">No more of these</a>',
    ],
  },
  {
    name: 'Invitation ends soon',
    category: 2,
    subject: 'Three days left: %INVITATION_CAMPAIGN%',
    paragraphs: [
      'your place is kept until %INVITATION_EXPIRES_DATE%.',
      '<a href="%INVITATION_LINK%">Choose your time</a>',
      '<a href="%UNSUBSCRIBE_LINK%">No more of these</a>',
    ],
  },
  {
    name: 'Time for a check-up',
    category: 0,
    subject: 'It is time again',
    paragraphs: ['your next check-up is due on %RECALL_DATE%.', 'Call us: %BUSINESS_PHONE%.'],
  },
  {
    name: 'Please sign',
    category: 0,
    subject: 'Please sign: %DISCLAIMER_NAME%',
    paragraphs: ['before your next visit we need your signature.', '%DISCLAIMER_BODY%'],
  },
  {
    name: 'Moved',
    category: 0,
    subject: 'New time: %APPT_DATE%, %APPT_TIME%',
    paragraphs: ['your appointment has a new time or place.', APPOINTMENT, '%CHANGE_NOTE%'],
  },
  {
    name: 'Confirmed',
    category: 0,
    subject: 'Confirmed: %APPT_DATE%, %APPT_TIME%',
    paragraphs: ['thank you, your appointment is confirmed.', APPOINTMENT],
  },
  {
    name: 'Another therapist',
    category: 0,
    subject: 'You will see %PROFESSIONAL_FULLNAME%',
    paragraphs: ['another member of our team will see you.', APPOINTMENT],
  },
]

export const templateLines = () =>
  LETTERS.map(({ name, category, subject, paragraphs, staff }, i) => ({
    kind: 'emailTemplate',
    externalId: templateId(i),
    templateName: name,
    subject,
    emailBody: [
      `<p>${staff ? 'Dear %PROFESSIONAL_FIRSTNAME%,' : 'Dear %CLIENT_FULLNAME%,'}</p>`,
      ...paragraphs.map((paragraph) => `<p>${paragraph}</p>`),
      '<p>%BUSINESS_NAME%</p>',
    ].join('\n'),
    emailCategoryExternalId: `demo-category-${category}`,
    fromName: '%BUSINESS_NAME%',
    ...(staff ? { toAddress: '%PROFESSIONAL_EMAIL%' } : { toAddress: '%CLIENT_EMAILADDRESS%' }),
  }))

const templateId = (i: number) => `demo-template-${i}`

type Automation = {
  description: string
  eventTypeId: number
  objectType?: string
  letter: number
  hours?: number
  more?: object
}

const AUTOMATIONS: Automation[] = [
  { description: 'Confirm every booking', eventTypeId: 1, letter: 0 },
  { description: 'Tell staff of a booking', eventTypeId: 1, letter: 1 },
  {
    description: 'Remind two days before',
    eventTypeId: 3,
    letter: 2,
    hours: -48,
    more: { offsetMode: 'CALENDAR' },
  },
  {
    description: 'Remind members on the day',
    eventTypeId: 3,
    letter: 3,
    hours: -2,
    more: { filterTagMapJson: '{"level":["silver","gold"]}' },
  },
  {
    description: 'Say that it is cancelled',
    eventTypeId: 2,
    letter: 4,
    more: { newStatus: 'CANCELLED' },
  },
  { description: 'After a no-show', eventTypeId: 2, letter: 5, more: { newStatus: 'NO_SHOW' } },
  {
    description: 'Ask a day after the visit',
    eventTypeId: 3,
    letter: 6,
    hours: 24,
    more: { triggerAnchor: 'END' },
  },
  {
    description: 'Remind students of their class',
    eventTypeId: 6,
    objectType: 'CLASS_SCHEDULE',
    letter: 7,
    hours: -24,
  },
  {
    description: 'Send the invitation',
    eventTypeId: 7,
    objectType: 'INVITATION_CAMPAIGN',
    letter: 8,
    more: { objectExternalId: 'demo-campaign-1' },
  },
  {
    description: 'Remind of the invitation',
    eventTypeId: 8,
    objectType: 'INVITATION_CAMPAIGN',
    letter: 9,
    hours: -72,
    more: { objectExternalId: 'demo-campaign-1' },
  },
  {
    description: 'Two weeks before a recall',
    eventTypeId: 10,
    objectType: 'RECALL',
    letter: 10,
    hours: -14 * 24,
  },
  { description: 'Ask for a signature', eventTypeId: 12, letter: 11 },
  // None of these matches a save that also cancels the appointment: see `changes`.
  {
    description: 'Say that it was moved',
    eventTypeId: 2,
    letter: 12,
    more: { changes: ['TIME', 'LOCATION'] },
  },
  {
    description: 'Say that it is confirmed',
    eventTypeId: 2,
    letter: 13,
    more: { newStatus: 'CONFIRMED' },
  },
  {
    description: 'Say who will see the client',
    eventTypeId: 2,
    letter: 14,
    more: { changes: ['STAFF'] },
  },
]

export const definitionLines = () =>
  AUTOMATIONS.map(
    ({ description, eventTypeId, objectType = 'CALENDAR', letter, hours = 0, more }) => ({
      kind: 'eventDefinition',
      active: true,
      description,
      objectType,
      triggerHours: hours,
      triggerMinutes: 0,
      eventType: { eventTypeId },
      eventActions: [
        {
          actionType: 'SEND_EMAIL',
          active: true,
          emailTemplateExternalId: templateId(letter),
          recipient: { value: letter === 1 ? 'staff' : 'client' },
        },
      ],
      ...more,
    }),
  )
