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

const WINTER_CAMPAIGN = { objectType: 'INVITATION_CAMPAIGN', objectExternalId: 'demo-campaign-1' }

/** The variants of a template. The automation names the English one; see docs/templates.md. */
const LANGUAGES = ['en', 'de', 'fr'] as const

type Language = (typeof LANGUAGES)[number]

/** The subject, then the paragraphs between greeting and signature. */
type Letter = [subject: string, ...paragraphs: string[]]

type Message = {
  description: string
  eventTypeId: number
  /** The fields of the definition that differ from the defaults below. */
  definition?: object
  recipient?: 'staff'
  templateName: string
  /** Index into `CATEGORIES`. */
  category?: number
  letters: Record<Language, Letter>
}

const BUTTON =
  'display:inline-block;padding:10px 18px;border-radius:6px;background-color:#2f5d50;color:#ffffff;font-weight:bold;text-decoration:none'

const button = (url: string, label: string) => `<a href="${url}" style="${BUTTON}">${label}</a>`

const ANSWER: Record<Language, [button: string, links: string]> = {
  en: answerLinks('I will be there', 'I cannot come', 'Find another time'),
  de: answerLinks('Ich komme', 'Ich kann nicht kommen', 'Anderen Termin suchen'),
  fr: answerLinks('Je viendrai', 'Je ne peux pas venir', 'Choisir une autre date'),
}

/** Buttons and links with which the client answers; mails to others have none. */
function answerLinks(
  confirm: string,
  cancel: string,
  reschedule: string,
): [button: string, links: string] {
  return [
    `%IF:CONFIRM_URL%${button('%CONFIRM_URL%', confirm)}%END:IF%`,
    `%IF:CANCEL_URL%<a href="%CANCEL_URL%">${cancel}</a>&nbsp;&nbsp; %END:IF%` +
      `%IF:RESCHEDULE_URL%<a href="%RESCHEDULE_URL%">${reschedule}</a>%END:IF%`,
  ]
}

const call = (phone: string) => `<a href="tel:${phone}">${phone}</a>`

const DIRECTIONS = '%LOCATION_DIRECTIONS%'

const MESSAGES: Message[] = [
  {
    description: 'Confirm every booking',
    eventTypeId: 1,
    templateName: 'Booking confirmed',
    letters: {
      en: [
        'Your appointment on %APPT_DATE%',
        'Thank you for booking with us. We have kept this time for you:',
        '%APPT_CARD%',
        DIRECTIONS,
        `If something comes up, please tell us at least 24 hours before: ${call('%LOCATION_PHONE%')}.`,
      ],
      de: [
        'Ihr Termin am %APPT_DATE%',
        'Vielen Dank für Ihre Buchung. Diese Zeit ist für Sie reserviert:',
        '%APPT_CARD%',
        DIRECTIONS,
        `Falls etwas dazwischenkommt, sagen Sie uns bitte mindestens 24 Stunden vorher Bescheid: ${call('%LOCATION_PHONE%')}.`,
      ],
      fr: [
        'Votre rendez-vous du %APPT_DATE%',
        'Merci de votre réservation. Nous vous avons réservé ce moment\u00a0:',
        '%APPT_CARD%',
        DIRECTIONS,
        `En cas d’empêchement, prévenez-nous au moins 24 heures à l’avance\u00a0: ${call('%LOCATION_PHONE%')}.`,
      ],
    },
  },
  {
    description: 'Tell staff of a booking',
    eventTypeId: 1,
    recipient: 'staff',
    templateName: 'New appointment for staff',
    letters: {
      en: [
        'New: %CLIENT_FULLNAME%, %APPT_DATE_TIME_STAFF%',
        '%CLIENT_FULLNAME% has booked an appointment with you.',
        '%APPT_CARD%',
        '%IF:APPOINTMENT_NOTE%Note: %APPOINTMENT_NOTE%%END:IF%',
      ],
      de: [
        'Neu: %CLIENT_FULLNAME%, %APPT_DATE_TIME_STAFF%',
        '%CLIENT_FULLNAME% hat einen Termin bei Ihnen gebucht.',
        '%APPT_CARD%',
        '%IF:APPOINTMENT_NOTE%Notiz: %APPOINTMENT_NOTE%%END:IF%',
      ],
      fr: [
        'Nouveau\u00a0: %CLIENT_FULLNAME%, %APPT_DATE_TIME_STAFF%',
        '%CLIENT_FULLNAME% a pris rendez-vous avec vous.',
        '%APPT_CARD%',
        '%IF:APPOINTMENT_NOTE%Remarque\u00a0: %APPOINTMENT_NOTE%%END:IF%',
      ],
    },
  },
  {
    description: 'Remind two days before',
    eventTypeId: 3,
    definition: { triggerHours: -48, offsetMode: 'CALENDAR' },
    templateName: 'Reminder two days before',
    letters: {
      en: [
        'See you on %APPT_DATE% at %APPT_TIME%',
        'We look forward to seeing you in two days.',
        '%APPT_CARD%',
        ...ANSWER.en,
        DIRECTIONS,
        `If you cannot come, please tell us, so that somebody else can have your place. You can also call us: ${call('%LOCATION_PHONE%')}.`,
      ],
      de: [
        'Bis %APPT_DATE% um %APPT_TIME%',
        'In zwei Tagen sehen wir uns. Wir freuen uns auf Sie.',
        '%APPT_CARD%',
        ...ANSWER.de,
        DIRECTIONS,
        `Wenn Sie nicht kommen können, sagen Sie bitte ab, damit jemand anders den Termin bekommt. Sie können uns auch anrufen: ${call('%LOCATION_PHONE%')}.`,
      ],
      fr: [
        'Rendez-vous le %APPT_DATE% à %APPT_TIME%',
        'Nous nous réjouissons de vous voir dans deux jours.',
        '%APPT_CARD%',
        ...ANSWER.fr,
        DIRECTIONS,
        `Si vous ne pouvez pas venir, prévenez-nous, afin que quelqu’un d’autre puisse en profiter. Vous pouvez aussi nous appeler\u00a0: ${call('%LOCATION_PHONE%')}.`,
      ],
    },
  },
  {
    description: 'Remind members on the day',
    eventTypeId: 3,
    definition: { triggerHours: -2, filterTagMapJson: '{"level":["silver","gold"]}' },
    templateName: 'Reminder on the day',
    letters: {
      en: [
        'Today at %APPT_TIME%: %REASON_NAME%',
        'See you in two hours.',
        '%APPT_CARD%',
        DIRECTIONS,
      ],
      de: [
        'Heute um %APPT_TIME%: %REASON_NAME%',
        'In zwei Stunden ist es so weit.',
        '%APPT_CARD%',
        DIRECTIONS,
      ],
      fr: [
        'Aujourd’hui à %APPT_TIME%\u00a0: %REASON_NAME%',
        'Nous vous attendons dans deux heures.',
        '%APPT_CARD%',
        DIRECTIONS,
      ],
    },
  },
  {
    description: 'Say that it is cancelled',
    eventTypeId: 2,
    definition: { newStatus: 'CANCELLED' },
    templateName: 'Cancelled',
    letters: {
      en: [
        'Cancelled: %APPT_DATE%, %APPT_TIME%',
        'This appointment will not take place.',
        '%APPT_CARD%',
        '%CHANGE_NOTE%',
        `We would be glad to find you another time: ${call('%LOCATION_PHONE%')}.`,
      ],
      de: [
        'Abgesagt: %APPT_DATE%, %APPT_TIME%',
        'Dieser Termin findet nicht statt.',
        '%APPT_CARD%',
        '%CHANGE_NOTE%',
        `Gern finden wir einen neuen Termin für Sie: ${call('%LOCATION_PHONE%')}.`,
      ],
      fr: [
        'Annulé\u00a0: %APPT_DATE%, %APPT_TIME%',
        'Ce rendez-vous n’aura pas lieu.',
        '%APPT_CARD%',
        '%CHANGE_NOTE%',
        `Nous vous proposerons volontiers une autre date\u00a0: ${call('%LOCATION_PHONE%')}.`,
      ],
    },
  },
  {
    description: 'After a no-show',
    eventTypeId: 2,
    definition: { newStatus: 'NO_SHOW' },
    templateName: 'We missed you',
    letters: {
      en: [
        'We missed you',
        'We waited for you on %APPT_DATE% at %APPT_TIME%, and hope that you are well.',
        `Shall we find another time? Call us: ${call('%LOCATION_PHONE%')}.`,
      ],
      de: [
        'Wir haben Sie vermisst',
        'Wir haben am %APPT_DATE% um %APPT_TIME% auf Sie gewartet und hoffen, dass es Ihnen gut geht.',
        `Sollen wir einen neuen Termin finden? Rufen Sie uns an: ${call('%LOCATION_PHONE%')}.`,
      ],
      fr: [
        'Vous nous avez manqué',
        'Nous vous attendions le %APPT_DATE% à %APPT_TIME% et espérons que vous allez bien.',
        `Souhaitez-vous une autre date\u00a0? Appelez-nous\u00a0: ${call('%LOCATION_PHONE%')}.`,
      ],
    },
  },
  {
    description: 'Ask a day after the visit',
    eventTypeId: 3,
    definition: { triggerHours: 24, triggerAnchor: 'END' },
    templateName: 'How was it?',
    category: 2,
    letters: {
      en: [
        'How are you after your visit?',
        'You saw %PROFESSIONAL_FULLNAME|us% yesterday. How do you feel today?',
        'Just reply to this mail. We read every answer.',
      ],
      de: [
        'Wie geht es Ihnen nach Ihrem Besuch?',
        'Gestern waren Sie bei %PROFESSIONAL_FULLNAME|uns%. Wie fühlen Sie sich heute?',
        'Antworten Sie einfach auf diese Mail. Wir lesen jede Antwort.',
      ],
      fr: [
        'Comment allez-vous après votre visite\u00a0?',
        'Hier, vous étiez chez %PROFESSIONAL_FULLNAME|nous%. Comment vous sentez-vous aujourd’hui\u00a0?',
        'Répondez simplement à ce message. Nous lisons chaque réponse.',
      ],
    },
  },
  {
    description: 'Remind students of their class',
    eventTypeId: 6,
    definition: { objectType: 'CLASS_SCHEDULE', triggerHours: -24 },
    templateName: 'Class tomorrow',
    category: 1,
    letters: {
      en: [
        'Tomorrow at %CLASS_TIME%: %CLASS_NAME%',
        'Your class is tomorrow. Bring comfortable clothes and something to drink.',
        '%APPT_CARD%',
      ],
      de: [
        'Morgen um %CLASS_TIME%: %CLASS_NAME%',
        'Morgen ist Ihr Kurs. Bringen Sie bequeme Kleidung und etwas zu trinken mit.',
        '%APPT_CARD%',
      ],
      fr: [
        'Demain à %CLASS_TIME%\u00a0: %CLASS_NAME%',
        'Votre cours a lieu demain. Prévoyez une tenue confortable et de quoi boire.',
        '%APPT_CARD%',
      ],
    },
  },
  {
    description: 'Send the invitation',
    eventTypeId: 7,
    definition: { objectType: 'INVITATION_CAMPAIGN' },
    templateName: 'Invitation',
    category: 2,
    letters: {
      en: [
        '%INVITATION_CAMPAIGN%: your place',
        '%INVITATION_DESCRIPTION%',
        'We have kept a place for you%IF:INVITATION_EXPIRES_DATE%, until %INVITATION_EXPIRES_DATE%%END:IF%.',
        button('%INVITATION_LINK%', 'Choose your time'),
      ],
      de: [
        '%INVITATION_CAMPAIGN%: Ihr Platz',
        '%INVITATION_DESCRIPTION%',
        'Wir haben einen Platz für Sie reserviert%IF:INVITATION_EXPIRES_DATE%, bis %INVITATION_EXPIRES_DATE%%END:IF%.',
        button('%INVITATION_LINK%', 'Termin wählen'),
      ],
      fr: [
        '%INVITATION_CAMPAIGN%\u00a0: votre place',
        '%INVITATION_DESCRIPTION%',
        'Nous vous avons réservé une place%IF:INVITATION_EXPIRES_DATE%, jusqu’au %INVITATION_EXPIRES_DATE%%END:IF%.',
        button('%INVITATION_LINK%', 'Choisir une date'),
      ],
    },
  },
  {
    description: 'Remind of the invitation',
    eventTypeId: 8,
    definition: { ...WINTER_CAMPAIGN, triggerHours: -72 },
    templateName: 'Invitation ends soon',
    category: 2,
    letters: {
      en: [
        'Three days left: %INVITATION_CAMPAIGN%',
        'Your place is kept until %INVITATION_EXPIRES_DATE%. After that we offer it to others.',
        button('%INVITATION_LINK%', 'Choose your time'),
      ],
      de: [
        'Noch drei Tage: %INVITATION_CAMPAIGN%',
        'Ihr Platz ist bis %INVITATION_EXPIRES_DATE% reserviert. Danach bieten wir ihn anderen an.',
        button('%INVITATION_LINK%', 'Termin wählen'),
      ],
      fr: [
        'Plus que trois jours\u00a0: %INVITATION_CAMPAIGN%',
        'Votre place est réservée jusqu’au %INVITATION_EXPIRES_DATE%. Ensuite, nous la proposerons à d’autres.',
        button('%INVITATION_LINK%', 'Choisir une date'),
      ],
    },
  },
  {
    description: 'Two weeks before a recall',
    eventTypeId: 10,
    definition: { objectType: 'RECALL', triggerHours: -14 * 24 },
    templateName: 'Time for a check-up',
    letters: {
      en: [
        'Time for your next check-up',
        'Your next check-up is due on %RECALL_DATE%.',
        `Call us and we will find a time that suits you: ${call('%BUSINESS_PHONE%')}.`,
      ],
      de: [
        'Zeit für Ihre nächste Kontrolle',
        'Ihre nächste Kontrolle ist am %RECALL_DATE% fällig.',
        `Rufen Sie uns an, und wir finden einen Termin, der Ihnen passt: ${call('%BUSINESS_PHONE%')}.`,
      ],
      fr: [
        'Votre prochain contrôle',
        'Votre prochain contrôle est prévu pour le %RECALL_DATE%.',
        `Appelez-nous et nous trouverons un moment qui vous convient\u00a0: ${call('%BUSINESS_PHONE%')}.`,
      ],
    },
  },
  {
    description: 'Ask for a signature',
    eventTypeId: 12,
    templateName: 'Please sign',
    letters: {
      en: [
        'Please sign: %DISCLAIMER_NAME%',
        'Before your next visit we need your signature. You can also sign at the reception.',
        '%DISCLAIMER_BODY%',
      ],
      de: [
        'Bitte unterschreiben: %DISCLAIMER_NAME%',
        'Vor Ihrem nächsten Besuch brauchen wir Ihre Unterschrift. Sie können auch am Empfang unterschreiben.',
        '%DISCLAIMER_BODY%',
      ],
      fr: [
        'À signer\u00a0: %DISCLAIMER_NAME%',
        'Avant votre prochaine visite, nous avons besoin de votre signature. Vous pouvez aussi signer à la réception.',
        '%DISCLAIMER_BODY%',
      ],
    },
  },
  // A change that also cancels the appointment matches none of the next three.
  {
    description: 'Say that it was moved',
    eventTypeId: 2,
    definition: { changes: ['TIME', 'LOCATION'] },
    templateName: 'Moved',
    letters: {
      en: [
        'New time: %APPT_DATE%, %APPT_TIME%',
        'Your appointment has moved. These are the new details:',
        '%APPT_CARD%',
        '%CHANGE_NOTE%',
        `Does this not suit you? Call us: ${call('%LOCATION_PHONE%')}.`,
      ],
      de: [
        'Neuer Termin: %APPT_DATE%, %APPT_TIME%',
        'Ihr Termin wurde verschoben. Ab jetzt gilt:',
        '%APPT_CARD%',
        '%CHANGE_NOTE%',
        `Das passt Ihnen nicht? Rufen Sie uns an: ${call('%LOCATION_PHONE%')}.`,
      ],
      fr: [
        'Nouvelle date\u00a0: %APPT_DATE%, %APPT_TIME%',
        'Votre rendez-vous a été déplacé. Voici les nouvelles informations\u00a0:',
        '%APPT_CARD%',
        '%CHANGE_NOTE%',
        `Cela ne vous convient pas\u00a0? Appelez-nous\u00a0: ${call('%LOCATION_PHONE%')}.`,
      ],
    },
  },
  {
    description: 'Say that it is confirmed',
    eventTypeId: 2,
    definition: { newStatus: 'CONFIRMED' },
    templateName: 'Confirmed',
    letters: {
      en: [
        'Confirmed: %APPT_DATE%, %APPT_TIME%',
        'Thank you, your appointment is confirmed.',
        '%APPT_CARD%',
      ],
      de: [
        'Bestätigt: %APPT_DATE%, %APPT_TIME%',
        'Vielen Dank, Ihr Termin ist bestätigt.',
        '%APPT_CARD%',
      ],
      fr: [
        'Confirmé\u00a0: %APPT_DATE%, %APPT_TIME%',
        'Merci, votre rendez-vous est confirmé.',
        '%APPT_CARD%',
      ],
    },
  },
  {
    description: 'Say who will see the client',
    eventTypeId: 2,
    definition: { changes: ['STAFF'] },
    templateName: 'Another therapist',
    letters: {
      en: [
        'You will see %PROFESSIONAL_FULLNAME%',
        '%PROFESSIONAL_FULLNAME% will see you at your next appointment. Day, time and place stay the same.',
        '%APPT_CARD%',
      ],
      de: [
        'Ihr Termin bei %PROFESSIONAL_FULLNAME%',
        'An Ihrem nächsten Termin ist %PROFESSIONAL_FULLNAME% für Sie da. Tag, Zeit und Ort bleiben gleich.',
        '%APPT_CARD%',
      ],
      fr: [
        'Votre rendez-vous avec %PROFESSIONAL_FULLNAME%',
        '%PROFESSIONAL_FULLNAME% vous recevra à votre prochain rendez-vous. Le jour, l’heure et le lieu ne changent pas.',
        '%APPT_CARD%',
      ],
    },
  },
]

/** Greeting and signature, for clients and for staff. */
const FRAMES: Record<
  Language,
  Record<'client' | 'staff', [greeting: string, signature: string]>
> = {
  en: {
    client: ['Hello %CLIENT_FIRSTNAME|there%,', 'Warm regards<br>Your team at %BUSINESS_NAME%'],
    staff: ['Hello %PROFESSIONAL_FIRSTNAME%,', '%BUSINESS_NAME%'],
  },
  de: {
    client: ['Guten Tag %CLIENT_FULLNAME%', 'Herzliche Grüsse<br>Ihr Team von %BUSINESS_NAME%'],
    staff: ['Guten Tag %PROFESSIONAL_FIRSTNAME%', '%BUSINESS_NAME%'],
  },
  fr: {
    client: ['Bonjour %CLIENT_FULLNAME%,', 'Cordialement<br>L’équipe de %BUSINESS_NAME%'],
    staff: ['Bonjour %PROFESSIONAL_FIRSTNAME%,', '%BUSINESS_NAME%'],
  },
}

/** The templates that automations name are the English ones. */
const templateId = (i: number, language: Language) =>
  language === 'en' ? `demo-template-${i}` : `demo-template-${i}-${language}`

export const templateLines = MESSAGES.flatMap(
  ({ templateName, category = 0, letters, recipient }, i) =>
    LANGUAGES.map((language) => {
      const [subject, ...paragraphs] = letters[language]
      const [greeting, signature] = FRAMES[language][recipient ?? 'client']
      return {
        kind: 'emailTemplate',
        externalId: templateId(i, language),
        templateName,
        language,
        subject,
        emailBody: [greeting, ...paragraphs, signature]
          .map((paragraph) => `<p>${paragraph}</p>`)
          .join('\n'),
        emailCategoryExternalId: `demo-category-${category}`,
        fromName: '%BUSINESS_NAME%',
        toAddress: recipient === 'staff' ? '%PROFESSIONAL_EMAIL%' : '%CLIENT_EMAILADDRESS%',
      }
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
        emailTemplateExternalId: templateId(i, 'en'),
        recipient: { value: recipient },
      },
    ],
    ...definition,
  }),
)
