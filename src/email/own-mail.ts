import type { MailContext } from '../contract/mail-context.ts'
import { layOutHtml, layOutText } from './layout.ts'
import { compileTemplate, escapeHtml, mergeMail } from './merge.ts'
import type { Segment } from './segments.ts'
import { colorsFor } from './colors.ts'

/** A mail with a fixed text, without template and tokens. */
export type OwnMail = {
  subject: string
  /** The paragraphs before and after the link. */
  before: Paragraph[]
  link: string | null
  after: Paragraph[]
}

/** A text, a link with words, or HTML that is escaped already with the same as text. */
export type Paragraph = string | { words: string; url: string } | { html: string; text: string }

/** The HTML and text of a mail to a user of the business, in the layout of its mails. */
export function writeOwnMail(
  { subject, before, link, after }: OwnMail,
  business: MailContext['business'],
) {
  const links = link === null ? [] : [link]
  const { link: color } = colorsFor(business.accentColor)
  const html = [
    ...before.map((one) => paragraph(one, color)),
    ...links.map((url) => paragraph({ words: url, url }, color)),
    ...after.map((one) => paragraph(one, color)),
  ]
  const text = [...before.map(textOf), ...links, ...after.map(textOf)].join('\n\n')
  const { language } = business
  const placed = { because: [], hasCard: true, hasUnsubscribeLink: true, cardSize: 'full' as const }
  return mergeMail(
    {
      ...compileTemplate({ ...EMPTY, language }),
      subject: [literal(subject)],
      html: layOutHtml({ ...placed, body: [literal(html.join('\n'))] }),
      text: layOutText({ ...placed, body: [literal(text)] }),
    },
    { ...NO_OBJECT, business },
  )
}

const literal = (text: string): Segment => ({
  kind: 'text',
  text,
  isVisible: true,
  condition: null,
})

function paragraph(content: Paragraph, color: string) {
  if (typeof content === 'string') return `<p>${escapeHtml(content)}</p>`
  if ('html' in content) return content.html
  const { words, url } = content
  return `<p><a class="bw-link" href="${escapeHtml(url)}" style="color:${color}">${escapeHtml(words)}</a></p>`
}

function textOf(content: Paragraph) {
  if (typeof content === 'string') return content
  return 'text' in content ? content.text : `${content.words}: ${content.url}`
}

const EMPTY = {
  subject: '',
  html: '',
  text: '',
  fromName: null,
  fromAddress: null,
  toName: null,
  toAddress: null,
  ccAddress: null,
  bccAddress: null,
  replyToAddress: null,
  because: null,
  styles: '',
  hasLayout: true,
}

const NO_OBJECT = {
  location: null,
  professional: null,
  client: null,
  reason: null,
  calendar: null,
  classSchedule: null,
  invitation: null,
  recall: null,
  disclaimer: null,
  movedFrom: null,
  unsubscribeLink: null,
  calendarLink: null,
}
