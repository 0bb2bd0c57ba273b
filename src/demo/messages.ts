import automations from './content/automations.json' with { type: 'json' }
import de from './content/letters.de.json' with { type: 'json' }
import en from './content/letters.en.json' with { type: 'json' }
import fr from './content/letters.fr.json' with { type: 'json' }
import practice from './content/practice.json' with { type: 'json' }

/** The automations of the practice, each with the template that it sends. */
type Automation = {
  templateName: string
  /** Index into the categories of the practice. */
  category: number
  recipient: 'client' | 'staff'
  /** Who else gets the same mail. */
  copies?: string[]
  /** How long the automation has been sending; if unset, the demo has no past messages of it. */
  sentFor?: Temporal.DurationLike
  /** The fields of the definition that differ from the defaults below. */
  definition: { description: string }
}

type Letters = Record<
  'greeting' | 'signature',
  /** `team` reads the mails that staff and the business get. */
  Record<Automation['recipient'] | 'team', string>
> & {
  letters: Record<string, { subject: string; paragraphs: Paragraph[] }>
}

/** A button is one action of the mail, and is left out if its token has no value. */
type Paragraph = string | { button: string; text: string }

const AUTOMATIONS = automations as Automation[]

/** The variants of a template. The automation names the English one; see docs/templates.md. */
const LANGUAGES: [language: string, letters: Letters][] = [
  ['en', en],
  ['de', de],
  ['fr', fr],
]

export const categoryLines = practice.categories.map((category, i) => ({
  kind: 'emailCategory',
  externalId: `demo-category-${i}`,
  ...category,
}))

const templateId = (i: number, language: string) =>
  language === 'en' ? `demo-template-${i}` : `demo-template-${i}-${language}`

/** A cell with padding, because Outlook ignores the padding of links. */
const buttonOf = ({ button, text }: Exclude<Paragraph, string>) =>
  `<div>%IF:${button}%<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0"><tr>` +
  `<td style="background-color:${practice.business.accentColor};color:#ffffff;border-radius:6px;padding:12px 22px;font-family:Helvetica,Arial,sans-serif">` +
  `<a href="%${button}%" style="background-color:${practice.business.accentColor};color:#ffffff;font-size:16px;font-weight:bold;text-decoration:none">${text}</a>` +
  `</td></tr></table>%END:IF%</div>`

export const templateLines = AUTOMATIONS.flatMap(
  ({ templateName, category, recipient, copies }, i) =>
    LANGUAGES.map(([language, { greeting, signature, letters }]) => {
      const reader = copies ? 'team' : recipient
      const { subject, paragraphs } = letters[templateName]!
      return {
        kind: 'emailTemplate',
        externalId: templateId(i, language),
        templateName,
        language,
        subject,
        emailBody: [greeting[reader], ...paragraphs, signature[reader]]
          .map((paragraph) =>
            typeof paragraph === 'string' ? `<p>${paragraph}</p>` : buttonOf(paragraph),
          )
          .join('\n'),
        emailCategoryExternalId: `demo-category-${category}`,
        fromName: '%BUSINESS_NAME%',
        toAddress: recipient === 'staff' ? '%PROFESSIONAL_EMAIL%' : '%CLIENT_EMAILADDRESS%',
      }
    }),
)

export const definitionLines = AUTOMATIONS.map(({ recipient, copies = [], definition }, i) => ({
  kind: 'eventDefinition',
  active: true,
  objectType: 'CALENDAR',
  triggerHours: 0,
  triggerMinutes: 0,
  allowPast: false,
  eventActions: [recipient, ...copies].map((value) => ({
    actionType: 'SEND_EMAIL',
    active: true,
    emailTemplateExternalId: templateId(i, 'en'),
    recipient: { value },
  })),
  ...definition,
}))

/** The automations that have sent messages before the demo is loaded, and for how long. */
export const sentAutomations = AUTOMATIONS.flatMap(({ sentFor, definition: { description } }) =>
  sentFor ? [{ description, sentFor }] : [],
)
