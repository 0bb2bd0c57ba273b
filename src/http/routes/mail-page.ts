import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { readLogo } from '../../automation/logo.ts'
import type { Db } from '../../database/database.ts'
import { colorsFor, type MailColors } from '../../email/colors.ts'
import { directionOf } from '../../email/formats.ts'
import { escapeHtml } from '../../email/merge.ts'
import { getBusiness, type BusinessRow } from '../../store/businesses.ts'
import { findPostalAddress } from '../../store/postal-addresses.ts'

/** The pages behind the links of mails. They look like the mail that they come from; see src/email/layout.ts. */

/** A page in the API description. */
export const HtmlPage = { content: { 'text/html': { schema: Type.String() } } }

/** The sender of the mail, as its pages show it. */
export type PageSender = {
  business: BusinessRow
  logo: string | null
  location: PlaceOfPage | null
  postalAddress: string | null
}

type PlaceOfPage = { address: string | null; phone: string | null }

export type MailPage = {
  /** Null for a link that is not genuine: its page does not say whom it is from. */
  sender: PageSender | null
  language: string
  title: string
  /** HTML. */
  body: (string | null | undefined | false)[]
}

export async function readSender(
  db: Db,
  businessId: number,
  location: PlaceOfPage | null = null,
): Promise<PageSender> {
  const [business, logo, own] = await Promise.all([
    getBusiness(db, businessId),
    readLogo(db, businessId),
    findPostalAddress(db, businessId),
  ])
  return { business, logo, location, postalAddress: location?.address || own }
}

/** `same-origin`: without a referrer, browsers send `Origin: null` with the form. */
export function sendMailPage(reply: FastifyReply, status: number, page: MailPage) {
  const style = styleOf(colorsFor(page.sender?.business.accentColor ?? null))
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'`
  return reply
    .code(status)
    .header('content-security-policy', policy)
    .header('referrer-policy', 'same-origin')
    .header('x-robots-tag', 'noindex, nofollow')
    .header('content-language', page.language)
    .type('text/html; charset=utf-8')
    .send(htmlOf(page, style))
}

/** A link that looks like the button of a mail. */
export const linkButton = (url: string, text: string) =>
  `<a class="button" href="${escapeHtml(url)}" rel="noreferrer">${escapeHtml(text)}</a>`

export const textLink = (url: string, text: string) =>
  `<a href="${escapeHtml(url)}" rel="noreferrer">${escapeHtml(text)}</a>`

export const paragraph = (text: string) => `<p>${escapeHtml(text)}</p>`

const htmlOf = ({ sender, language, title, body }: MailPage, style: string) => {
  const name = sender?.business.name ?? title
  return `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${directionOf(language)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(sender ? `${title} – ${name}` : title)}</title>
<style>${style}</style></head>
<body><main>
${sender ? headerOf(sender) : ''}<h1>${escapeHtml(title)}</h1>
${body.filter(Boolean).join('\n')}
</main>${sender ? footerOf(sender) : ''}</body></html>
`
}

const headerOf = ({ business, logo }: PageSender) =>
  logo === null
    ? `<p class="name">${escapeHtml(business.name)}</p>\n`
    : `<p class="logo"><img src="${logo}" alt="${escapeHtml(business.name)}"></p>\n`

export const phoneOf = ({ business, location }: PageSender) => location?.phone ?? business.phone

export const telOf = (phone: string) => `tel:${phone.replace(/[^\d+]/g, '')}`

function footerOf(sender: PageSender) {
  const { business, postalAddress } = sender
  const phone = phoneOf(sender)
  const { emailAddress, website } = business
  const lines = [
    `<b>${escapeHtml(business.name)}</b>`,
    escapeHtml((postalAddress ?? '').replace(/\s*[\r\n]+\s*/g, ', ')),
    phone && textLink(telOf(phone), phone),
    emailAddress && `<a href="mailto:${escapeHtml(emailAddress)}">${escapeHtml(emailAddress)}</a>`,
    website && textLink(website, website.replace(/^https?:\/\/|\/$/g, '')),
  ]
  return `<footer>${lines.filter(Boolean).join('<br>')}</footer>`
}

/** The colours and sizes of the mails' layout. */
const styleOf = ({
  accent,
  onAccent,
  link,
  linkOnDark,
}: MailColors) => `:root{color-scheme:light dark}
body{margin:0;padding:32px 16px;background:#f3f2ec;color:#1b2824;font:16px/25px Helvetica,Arial,sans-serif;overflow-wrap:anywhere}
main{box-sizing:border-box;max-width:600px;margin:0 auto;padding:28px 40px 32px;background:#fff;border-top:4px solid ${accent};border-radius:8px}
.logo{margin:0 0 24px}
.logo img{height:48px;max-width:100%;object-fit:contain}
.name{margin:0 0 24px;font-size:18px;line-height:24px;font-weight:bold;color:${link}}
h1{margin:0 0 16px;font-size:24px;line-height:31px}
h2{margin:28px 0 8px;font-size:17px;line-height:24px}
.card{margin:24px 0;padding:20px 24px;background:#f6f5f0;border-left:4px solid ${accent};border-radius:6px;overflow-wrap:anywhere}
.card p{margin:0;color:#52615a;font-size:15px;line-height:23px}
.card .when{color:#1b2824;font-size:18px;line-height:27px;font-weight:bold}
.card .gone{font-weight:normal;text-decoration:line-through;color:#52615a}
.card .what{margin:12px 0 4px;color:#1b2824;font-size:16px;line-height:24px}
.text{margin:24px 0;padding:20px 24px;background:#f6f5f0;border-radius:6px;white-space:pre-line;overflow-wrap:anywhere}
.links{margin:20px 0 0;padding:0;list-style:none}
.links li{margin:0 0 10px}
form{margin:24px 0 0}
label{display:block;margin:0 0 16px;font-size:15px;line-height:23px}
label.topic{margin:0 0 4px;padding:10px 0}
label.topic+button{margin-top:16px}
input[type=checkbox]{width:20px;height:20px;margin:0 10px 0 0;vertical-align:-4px;accent-color:${accent}}
form .quiet{margin-top:12px}
input[type=text],textarea{box-sizing:border-box;display:block;width:100%;margin:6px 0 0;padding:10px 12px;border:1px solid #8a958f;border-radius:6px;background:#fff;color:inherit;font:inherit}
button,.button{display:block;box-sizing:border-box;width:100%;padding:13px 18px;border:0;border-radius:6px;background:${accent};color:${onAccent};font:bold 16px/20px Helvetica,Arial,sans-serif;text-align:center;text-decoration:none;cursor:pointer}
button.cancel{background:#a83a2a;color:#fff}
button.quiet{width:auto;padding:8px 0;text-align:start;background:none;color:${link};font-weight:normal;text-decoration:underline}
a{color:${link}}
a.button{color:${onAccent}}
button:focus-visible,a:focus-visible,input:focus-visible,textarea:focus-visible{outline:3px solid ${link};outline-offset:2px}
.soft{color:#52615a;font-size:15px;line-height:23px}
.alert{color:#a83a2a}
footer{max-width:520px;margin:0 auto;padding:24px 40px;text-align:center;font-size:13px;line-height:20px;color:#616d66}
footer a{color:#616d66;overflow-wrap:anywhere}
@media (max-width:620px){body{padding:0}main{padding:24px 20px;border-radius:0}footer{padding:20px}.card,.text{padding:16px 18px}}
@media (prefers-color-scheme:dark){body{background:#131b18;color:#e8ede9}main{background:#1a2421}.card,.text{background:#22302b}
.card p,.soft{color:#aab8b1}.card .when,.card .what{color:#e8ede9}.card .gone{color:#aab8b1}
.name,a,button.quiet{color:${linkOnDark}}a.button{color:${onAccent}}footer,footer a{color:#8c9b94}
.logo img{padding:6px 10px;background:#fff;border-radius:6px}.alert{color:#f0917f}
input[type=text],textarea{background:#131b18;border-color:#6f7d76}
button:focus-visible,a:focus-visible,input:focus-visible,textarea:focus-visible{outline-color:${linkOnDark}}}`
