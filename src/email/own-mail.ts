import type { MailContext } from '../contract/mail-context.ts'
import { layOutHtml, layOutText } from './layout.ts'
import { compileTemplate, escapeHtml, mergeMail } from './merge.ts'
import type { Segment } from './segments.ts'
import { colorsFor } from './colors.ts'

/** A mail with a fixed text, without template and tokens. */
export type OwnMail = {
  subject: string
  /** The paragraphs before and after the link. */
  before: string[]
  link: string | null
  after: string[]
}

/** The HTML and text of a mail to a user of the business, in the layout of its mails. */
export function writeOwnMail(
  { subject, before, link, after }: OwnMail,
  business: MailContext['business'],
) {
  const links = link === null ? [] : [link]
  const { link: color } = colorsFor(business.accentColor)
  const html = [
    ...before.map(paragraph),
    ...links.map((url) => linkParagraph(url, color)),
    ...after.map(paragraph),
  ]
  const text = [...before, ...links, ...after].join('\n\n')
  const { language } = business
  const placed = { because: [], hasCard: true, hasUnsubscribeLink: true }
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

const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`

const linkParagraph = (link: string, color: string) => {
  const url = escapeHtml(link)
  return `<p><a class="bw-link" href="${url}" style="color:${color}">${url}</a></p>`
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
  unsubscribeLink: null,
  calendarLink: null,
}
