import type { MailColors } from './colors.ts'
import { findLayoutToken } from './layout-tokens.ts'
import { cutHtml, cutText, type Segment } from './segments.ts'
import { findToken } from './tokens.ts'

/**
 * The frame of every mail: the name of the business, the text of the author, a card with the
 * appointment, and a footer. Tables and inline styles, because Outlook and Gmail drop the rest; see
 * docs/templates.md. It is split at its tokens once, so a mail only joins strings.
 */

/** The HTML or the text of a template, which the layout is put around. */
export type BodyPart = {
  body: Segment[]
  because: Segment[]
  /** Whether the body already contains the card or the unsubscribe link. */
  hasCard: boolean
  hasUnsubscribeLink: boolean
  /** A body with the directions of the location gets the card without them. */
  cardSize: 'full' | 'short'
}

/** The parts that a body contains itself, so that the layout adds none. */
export const placedIn = (body: string) => ({
  hasCard: body.includes('%APPT_CARD%'),
  hasUnsubscribeLink: body.includes('%UNSUBSCRIBE_LINK'),
  cardSize: sizeFor(body),
})

const layout = {
  findToken: (name: string) => findLayoutToken(name) ?? findToken(name),
  mayBeEmpty: true,
}

/** On each cell, because Outlook does not inherit it. Outlook shows Times if the first font is unknown. */
const FONT = 'font-family:Helvetica,Arial,sans-serif'
const TABLE = '<table role="presentation" cellpadding="0" cellspacing="0" border="0"'
const DETAIL = 'style="margin:0;font-size:15px;line-height:23px;color:#52615a"'

const cardHtml = (hasDirections: boolean) =>
  cutHtml(
    `${TABLE} width="100%" style="margin:24px 0"><tr><td class="bw-card" style="background-color:#f6f5f0;border-left:4px solid %MAIL_ACCENT%;border-radius:6px;padding:20px 24px;word-break:break-word;${FONT}">
<p class="bw-alert" style="margin:0 0 8px;font-size:14px;line-height:20px;font-weight:bold;color:#a83a2a">%MAIL_CANCELLED%</p>
%IF:MAIL_CANCELLED%<p class="bw-soft" style="margin:0;font-size:18px;line-height:27px;color:#52615a;text-decoration:line-through">%MAIL_DATE%<br>%MAIL_TIME%</p>%END:IF%
%IF:MAIL_MOVED_FROM%<p class="bw-soft" style="margin:0;font-size:16px;line-height:25px;color:#52615a;text-decoration:line-through">%MAIL_MOVED_FROM%</p>%END:IF%
%IF:MAIL_NOT_CANCELLED%<p class="bw-ink" style="margin:0;font-size:18px;line-height:27px;font-weight:bold;color:#1b2824">%MAIL_DATE%<br>%MAIL_TIME%</p>%END:IF%
%IF:MAIL_OWN_TIME%<p class="bw-soft" style="margin:0;font-size:15px;line-height:23px;color:#52615a;text-decoration:%MAIL_OWN_TIME_LINE%">%WORD_OWN_TIME%%WORD_COLON% %MAIL_OWN_TIME%</p>%END:IF%
<p class="bw-ink" style="margin:12px 0 4px;font-size:16px;line-height:24px;color:#1b2824">%MAIL_TITLE%</p>
%IF:MAIL_PERSON%<p class="bw-soft" ${DETAIL}>%MAIL_PERSON_WORD%%WORD_COLON% %MAIL_PERSON%</p>%END:IF%
%IF:MAIL_CLIENT_PHONE%<p class="bw-soft" ${DETAIL}>%WORD_PHONE%%WORD_COLON% <a class="bw-link" href="tel:%MAIL_CLIENT_PHONE%" style="color:%MAIL_LINK%;white-space:nowrap">%MAIL_CLIENT_PHONE%</a></p>%END:IF%
%IF:MAIL_PLACE%<p class="bw-soft" ${DETAIL}>%WORD_PLACE%%WORD_COLON% %MAIL_PLACE%</p>%END:IF%
%IF:MAIL_MAP%<p style="margin:4px 0 0;font-size:15px;line-height:23px"><a class="bw-link" href="%MAIL_MAP%" style="color:%MAIL_LINK%">%WORD_SHOW_MAP%</a></p>%END:IF%
${hasDirections ? `%IF:MAIL_DIRECTIONS%<p class="bw-soft" style="margin:8px 0 0;font-size:15px;line-height:23px;color:#52615a">%MAIL_DIRECTIONS%</p>%END:IF%` : ''}
%IF:MAIL_CALENDAR%<p style="margin:12px 0 0;font-size:15px;line-height:26px"><a class="bw-link" href="%MAIL_CALENDAR%" style="color:%MAIL_LINK%;white-space:nowrap">%WORD_ADD_TO_CALENDAR%</a><br><a class="bw-link" href="%MAIL_CALENDAR%?to=google" style="color:%MAIL_LINK%;white-space:nowrap">%WORD_ADD_TO_GOOGLE%</a><br><a class="bw-link" href="%MAIL_CALENDAR%?to=outlook" style="color:%MAIL_LINK%;white-space:nowrap">%WORD_ADD_TO_OUTLOOK%</a></p>%END:IF%
</td></tr></table>`,
    layout,
  )

const cardText = (hasDirections: boolean) =>
  cutText(
    `%MAIL_CANCELLED%
%IF:MAIL_MOVED_FROM%%WORD_BEFORE%%WORD_COLON% %MAIL_MOVED_FROM%%END:IF%
%MAIL_DATE%
%MAIL_TIME%
%IF:MAIL_OWN_TIME%%WORD_OWN_TIME%%WORD_COLON% %MAIL_OWN_TIME%%END:IF%
%MAIL_TITLE%
%IF:MAIL_PERSON%%MAIL_PERSON_WORD%%WORD_COLON% %MAIL_PERSON%%END:IF%
%IF:MAIL_CLIENT_PHONE%%WORD_PHONE%%WORD_COLON% %MAIL_CLIENT_PHONE%%END:IF%
%IF:MAIL_PLACE%%WORD_PLACE%%WORD_COLON% %MAIL_PLACE%%END:IF%
%IF:MAIL_MAP%%WORD_SHOW_MAP%%WORD_COLON% %MAIL_MAP%%END:IF%
${hasDirections ? '%MAIL_DIRECTIONS%\n' : ''}%IF:MAIL_CALENDAR%%WORD_ADD_TO_CALENDAR%%WORD_COLON% %MAIL_CALENDAR%%END:IF%
%IF:MAIL_CALENDAR%%WORD_ADD_TO_GOOGLE%%WORD_COLON% %MAIL_CALENDAR%?to=google%END:IF%
%IF:MAIL_CALENDAR%%WORD_ADD_TO_OUTLOOK%%WORD_COLON% %MAIL_CALENDAR%?to=outlook%END:IF%`,
    layout,
  )

/** After the preheader, so that lists of mails do not show the text of the mail next to it. */
const PREHEADER_END = '&#847;&zwnj;&nbsp;'.repeat(40)

const TOP_HTML = cutHtml(
  `<body class="bw-page" style="margin:0;padding:0;background-color:#f3f2ec">
%IF:MAIL_PREHEADER%<div style="display:none;max-height:0;overflow:hidden;mso-hide:all;${FONT}">%MAIL_PREHEADER%${PREHEADER_END}</div>%END:IF%
${TABLE} class="bw-page" width="100%" style="background-color:#f3f2ec"><tr><td class="bw-outer" style="padding:32px 16px">
<!--[if mso]>${TABLE} align="center" width="600" style="width:600px"><tr><td><![endif]-->
${TABLE} align="center" width="100%" style="max-width:600px;margin:0 auto"><tr><td class="bw-sheet" style="background-color:#ffffff;border-top:4px solid %MAIL_ACCENT%;border-radius:8px;padding:28px 40px 32px;${FONT}">
%IF:MAIL_LOGO%<p style="margin:0 0 24px"><img class="bw-logo" src="cid:logo" alt="%BUSINESS_NAME%" height="48" style="height:48px;max-width:100%;border:0;font-size:18px;font-weight:bold;color:%MAIL_LINK%" /></p>%END:IF%
<p class="bw-link" style="margin:0 0 24px;font-size:18px;line-height:24px;font-weight:bold;color:%MAIL_LINK%">%MAIL_NAME%</p>
<div class="bw-body bw-ink" style="font-size:16px;line-height:25px;color:#1b2824;word-break:break-word">
`,
  layout,
)

const MIDDLE_HTML = cutHtml(
  `
</div>
`,
  layout,
)

const FOOTER_HTML = cutHtml(
  `
</td></tr><tr><td class="bw-foot" align="center" style="padding:24px 40px;${FONT};font-size:13px;line-height:20px;color:#616d66;word-break:break-word">
<p style="margin:0"><b>%BUSINESS_NAME%</b><br />%MAIL_ADDRESS%<br />%IF:MAIL_PHONE%<a href="tel:%MAIL_PHONE%" style="color:#616d66;text-decoration:none;white-space:nowrap">%MAIL_PHONE%</a><br />%END:IF%%IF:BUSINESS_EMAILADDRESS%<a href="mailto:%BUSINESS_EMAILADDRESS%" style="color:#616d66;white-space:nowrap">%BUSINESS_EMAILADDRESS%</a><br />%END:IF%%IF:MAIL_HOME%<a href="%MAIL_HOME%" style="color:#616d66;white-space:nowrap">%MAIL_SITE%</a>%END:IF%</p>
`,
  layout,
)

const UNSUBSCRIBE_HTML = cutHtml(
  `%IF:UNSUBSCRIBE_LINK%<p style="margin:12px 0 0"><a href="%UNSUBSCRIBE_LINK%" style="color:#616d66">%WORD_UNSUBSCRIBE%</a></p>%END:IF%`,
  layout,
)

const END_HTML = cutHtml(
  `
</td></tr></table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>`,
  layout,
)

/** `-- ` begins a signature, which mail programs show in grey. */
const FOOTER_TEXT = cutText(
  `\n\n-- \n%BUSINESS_NAME%\n%MAIL_ADDRESS%\n%MAIL_PHONE%\n%BUSINESS_EMAILADDRESS%\n%MAIL_HOME%`,
  layout,
)

const UNSUBSCRIBE_TEXT = cutText(
  `\n\n%IF:UNSUBSCRIBE_LINK%%WORD_UNSUBSCRIBE%%WORD_COLON% %UNSUBSCRIBE_LINK%%END:IF%`,
  layout,
)

/** The mark makes the blank line disappear if the part after it is empty. */
const BLANK_LINE: Segment[] = [...cutText('\n\n', layout), { kind: 'mark' }]

const cardIf = (segments: Segment[], condition: string): Segment => ({
  kind: 'insert',
  segments,
  condition: findLayoutToken(condition)!,
})

/** The card is split once with the directions of the location, and once for bodies that have them. */
const CARD_HTML = { full: cardHtml(true), short: cardHtml(false) }
const CARD_TEXT = { full: cardText(true), short: cardText(false) }

const sizeFor = (body: string): BodyPart['cardSize'] =>
  body.includes('%LOCATION_DIRECTIONS') ? 'short' : 'full'

/** The replacement of `%APPT_CARD%` in a body. */
export const cardInHtml = (body: string) => [cardIf(CARD_HTML[sizeFor(body)], 'MAIL_HAS_VISIT')]
export const cardInText = (body: string) => [cardIf(CARD_TEXT[sizeFor(body)], 'MAIL_HAS_VISIT')]

/** A token that is an address becomes a link, unless it is in a link or in a tag. */
export const linkAddresses = (html: string) =>
  html.replace(
    /<a\b[^>]*>.*?<\/a>|<[^>]*>|%(?:\w+_URL|INVITATION_LINK|UNSUBSCRIBE_LINK)%/gs,
    (part) => (part.startsWith('<') ? part : `<a href="${part}">${part}</a>`),
  )

/** Links that have no style of their own get the colour of the business. A phone number stays in one line. */
export const colorLinks = (html: string) =>
  html.replace(/<a (?![^>]*\b(?:style|class)=)([^>]*)/g, (_, attributes: string) => {
    const oneLine = /href="tel:/.test(attributes) ? ';white-space:nowrap' : ''
    return `<a class="bw-link" style="color:%MAIL_LINK%${oneLine}" ${attributes}`
  })

/** The tokens in a body with coloured links. */
export const findBodyToken = (name: string) =>
  name === 'MAIL_LINK' ? findLayoutToken(name) : findToken(name)

/**
 * Whether a body has a text colour without a background, or the other way round. In dark mode one of
 * them would change.
 */
export const hasOwnColors = (html: string) =>
  / (?:bgcolor|color)=/i.test(html) ||
  html
    .matchAll(/ style="([^"]*)"/g)
    .some(([, style = '']) => /(?:^|;)\s*color:/.test(style) !== /background/.test(style))

export const layOutHtml = ({ body, because, ...placed }: BodyPart): Segment[] => [
  ...TOP_HTML,
  ...body,
  ...MIDDLE_HTML,
  ...(placed.hasCard ? [] : [cardIf(CARD_HTML[placed.cardSize], 'MAIL_HAS_CARD')]),
  ...FOOTER_HTML,
  ...because,
  ...(placed.hasUnsubscribeLink ? [] : UNSUBSCRIBE_HTML),
  ...END_HTML,
]

export const layOutText = ({ body, because, ...placed }: BodyPart): Segment[] => [
  ...body,
  ...(placed.hasCard ? [] : [...BLANK_LINE, cardIf(CARD_TEXT[placed.cardSize], 'MAIL_HAS_CARD')]),
  ...FOOTER_TEXT,
  ...BLANK_LINE,
  ...because,
  ...(placed.hasUnsubscribeLink ? [] : UNSUBSCRIBE_TEXT),
]

export type DocumentParts = {
  /** From `<body>` to `</body>`. */
  body: string
  /** Escaped for HTML. */
  title: string
  language: string
  direction: string
  /** The rules of the author that depend on the reader's screen. */
  styles: string
  /** The styles of the layout; null without it. */
  layoutStyles: string | null
}

const OFFICE_NAMESPACE = ' xmlns:o="urn:schemas-microsoft-com:office:office"'

/**
 * Declares both colour schemes, stops Apple Mail from turning dates and numbers into links, and makes
 * Outlook scale pictures together with the text.
 */
const LAYOUT_HEAD = `<meta name="color-scheme" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no">
<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><![endif]-->
`

/** A complete HTML document with at most one style sheet. */
export function htmlDocument(parts: DocumentParts) {
  const { body, title, language, direction, styles, layoutStyles } = parts
  const sheet = `${layoutStyles ?? ''}${styles}`
  return `<!doctype html>
<html lang="${language}" dir="${direction}"${layoutStyles === null ? '' : OFFICE_NAMESPACE}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
${layoutStyles === null ? '' : LAYOUT_HEAD}<title>${title}</title>
${sheet === '' ? '' : `<style>\n${sheet}</style>\n`}</head>
${body}
</html>
`
}

/**
 * The rules that cannot be inline. A body with colours of its own stays on its light sheet, because
 * dark mode would make some of it illegible.
 */
export const stylesOfLayout = ({ linkOnDark }: MailColors, hasOwnColors: boolean) =>
  `:root{color-scheme:light dark}
@media (max-width:620px){
.bw-outer{padding:0!important}
.bw-sheet{padding:24px 20px!important;border-radius:0!important}
.bw-foot{padding:20px!important}
.bw-card{padding:16px 18px!important}
}
@media (prefers-color-scheme:dark){
.bw-page{background-color:#131b18!important}
.bw-foot,.bw-foot a{color:#8c9b94!important}
${hasOwnColors ? '' : darkSheet(linkOnDark)}}
`

/**
 * A logo may be dark on a transparent ground, so it gets a light plate. Its `alt`, for readers without
 * pictures, keeps its inline colour, which is legible there.
 */
const darkSheet = (
  link: string,
) => `.bw-logo{background-color:#ffffff!important;padding:6px 10px!important;border-radius:6px!important}
.bw-sheet{background-color:#1a2421!important}
.bw-card{background-color:#22302b!important}
.bw-ink{color:#e8ede9!important}
.bw-soft{color:#aab8b1!important}
.bw-alert{color:#f0917f!important}
.bw-good{color:#8fcfb6!important}
.bw-line{border-color:#35443e!important}
.bw-link{color:${link}!important}
`
