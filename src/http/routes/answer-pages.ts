import { createHash } from 'node:crypto'
import type { Answer } from '../../email/answer-links.ts'
import { formatsFor, knownLanguage, type Formats } from '../../email/formats.ts'
import { escapeHtml } from '../../email/merge.ts'
import type { AnswerPage, AnswerState, Question } from '../../scheduling/answers.ts'
import { ANSWER_TEXTS, type AnswerTexts } from './answer-texts.ts'

export type Page = { html: string; language: string }

/** The page of a genuine link, in the language of the client. */
export function answerPage(question: Question, page: AnswerPage, formToken: string): Page {
  const { business, row, state } = page
  const language = chooseLanguage([row?.context.client?.language, business.language])
  const texts = ANSWER_TEXTS[baseOf(language)]
  const { title, lines } = wordsOf(texts, question.answer, state, page)
  const formats = formatsFor([language], zonesOf(page))
  const isShown = state === 'ASKS' || state === 'DONE' || state === 'TOO_LATE'
  return pageOf(language, business.name, [
    `<h1>${escapeHtml(title)}</h1>`,
    ...lines.map((line) => `<p>${escapeHtml(line)}</p>`),
    isShown ? appointmentOf(page, texts, formats) : '',
    state === 'ASKS' ? formOf(texts, question.answer, formToken) : '',
    state === 'DONE' && question.answer === 'cancel' ? bookingOf(page, texts) : '',
    state === 'DONE' && question.answer === 'confirm' ? '' : contactOf(page, texts),
  ])
}

/** The page of any other address. It does not reveal which links exist. */
export function unknownLinkPage(acceptLanguage: string | undefined): Page {
  const wanted = (acceptLanguage ?? '').slice(0, 200).split(',')
  const language = chooseLanguage(wanted.map((one) => one.split(';')[0]!.trim()))
  const { unknown } = ANSWER_TEXTS[baseOf(language)]
  return pageOf(language, unknown.title, [
    `<h1>${escapeHtml(unknown.title)}</h1>`,
    `<p>${escapeHtml(unknown.text)}</p>`,
  ])
}

function wordsOf(texts: AnswerTexts, answer: Answer, state: AnswerState, page: AnswerPage) {
  switch (state) {
    case 'ASKS':
      return texts.asks[answer]
    case 'DONE':
      return texts.done[answer]
    case 'TOO_LATE':
      return texts.tooLate(page.business.cancelUntilHours ?? 0)
    case 'MOVED':
      return texts.moved
    case 'OVER':
      return texts.over
    case 'CLOSED':
      return texts.closed
    case 'GONE':
      return { title: texts.unknown.title, lines: [texts.unknown.text] }
  }
}

/** The service, time, staff and location of the appointment. */
function appointmentOf({ row }: AnswerPage, texts: AnswerTexts, formats: Formats) {
  if (!row) return ''
  const { calendar, reason, professional, location } = row.context
  const start = calendar!.startTime
  const time = `${formats.time(start)} – ${formats.time(calendar!.endTime)}`
  const entries: [string, string | undefined][] = [
    [texts.what, reason?.name],
    [texts.when, `${formats.date(start)}\n${time} (${formats.zoneName(start)})`],
    [texts.who, professional ? `${professional.firstName} ${professional.lastName}` : undefined],
    [texts.where, [location?.name, location?.address].filter(Boolean).join('\n')],
  ]
  const shown = entries.flatMap(([name, value]) =>
    value ? [`<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`] : [],
  )
  return `<dl>${shown.join('')}</dl>`
}

/** Without an `action`, the browser posts to the URL of the page. */
const formOf = (texts: AnswerTexts, answer: Answer, formToken: string) =>
  `<form method="post"><input type="hidden" name="formToken" value="${formToken}">` +
  `<button class="${answer}">${escapeHtml(texts.button[answer])}</button></form>`

function bookingOf({ business: { bookingUrl } }: AnswerPage, texts: AnswerTexts) {
  if (!bookingUrl) return ''
  return `<p><a href="${escapeHtml(bookingUrl)}" rel="noreferrer">${escapeHtml(texts.bookAgain)}</a></p>`
}

function contactOf({ business, row }: AnswerPage, texts: AnswerTexts) {
  const phone = row?.context.location?.phone ?? business.phone
  const address = row?.context.location?.emailAddress ?? business.emailAddress
  const ways = [
    phone && `<a href="tel:${phone.replace(/[^\d+]/g, '')}">${escapeHtml(phone)}</a>`,
    address && `<a href="mailto:${escapeHtml(address)}">${escapeHtml(address)}</a>`,
  ].filter(Boolean)
  if (ways.length === 0) return ''
  return `<p class="contact">${escapeHtml(texts.contact)} ${ways.join(' · ')}</p>`
}

const zonesOf = ({ business, row }: AnswerPage) => [
  row?.context.client?.timeZone,
  row?.context.location?.timeZone,
  business.timeZone,
]

/** The first of these languages that the pages support; else English. */
function chooseLanguage(wanted: (string | null | undefined)[]) {
  const known = wanted.flatMap((one) => knownLanguage(one) ?? [])
  return known.find((one) => Object.hasOwn(ANSWER_TEXTS, one.split('-')[0]!)) ?? 'en'
}

const baseOf = (language: string) => language.split('-')[0] as keyof typeof ANSWER_TEXTS

const pageOf = (language: string, name: string, body: string[]): Page => ({
  language,
  html: `<!doctype html>
<html lang="${escapeHtml(language)}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${escapeHtml(name)}</title>
<style>${STYLE}</style></head>
<body><main><p class="name">${escapeHtml(name)}</p>
${body.filter(Boolean).join('\n')}
</main></body></html>
`,
})

const STYLE = `:root{color-scheme:light dark}
body{font:1.05rem/1.55 system-ui,-apple-system,"Segoe UI",sans-serif;margin:0;background:#f3f4f6;color:#1f2937}
main{max-width:30rem;margin:8vh auto;padding:2rem;background:#fff;border-radius:1rem;box-shadow:0 1px 4px #0002}
h1{font-size:1.5rem;line-height:1.25;margin:.2em 0 .8em}
.name{margin:0;color:#6b7280}
dl{margin:1.5rem 0;padding:1rem 1.25rem;background:#f3f4f6;border-radius:.75rem}
dt{color:#6b7280;font-size:.85rem}
dd{margin:0 0 .8rem;white-space:pre-line;overflow-wrap:anywhere}
dd:last-child{margin-bottom:0}
button{font:inherit;font-weight:600;width:100%;padding:.8em 1.6em;border:0;border-radius:.6em;background:#1d4ed8;color:#fff;cursor:pointer}
button.cancel{background:#b91c1c}
button:focus-visible,a:focus-visible{outline:3px solid #60a5fa;outline-offset:2px}
a{color:#1d4ed8}
.contact{color:#4b5563;font-size:.95rem}
@media (max-width:34rem){main{margin:0;min-height:100vh;border-radius:0;box-sizing:border-box}}
@media (prefers-color-scheme:dark){body{background:#0b1220;color:#e5e7eb}main{background:#111827}dl{background:#1f2937}
.name,dt,.contact{color:#9ca3af}a{color:#93c5fd}}`

/** The hash of the only style that the page may have. */
export const STYLE_HASH = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`
