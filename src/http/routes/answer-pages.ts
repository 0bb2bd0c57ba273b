import type { FastifyInstance } from 'fastify'
import { RequestError } from '../../errors.ts'
import type { ContextRow } from '../../store/mail-contexts.ts'
import { googleCalendarLink, outlookCalendarLink } from '../../email/calendar-links.ts'
import { knownLanguage } from '../../email/formats.ts'
import { linkedEntry, mapLink, placeOf } from '../../email/layout-tokens.ts'
import { escapeHtml, readersOf } from '../../email/merge.ts'
import { timeAtLocation, visitTimes } from '../../email/readers.ts'
import type { AnswerPage, Question } from '../../scheduling/answers.ts'
import { sendProblem } from '../server/problems.ts'
import { fillCount, fillText, LANGUAGES, textsFor, type Texts } from '../../texts/texts.ts'
import {
  linkButton,
  paragraph,
  phoneOf,
  sendMailPage,
  telOf,
  textLink,
  type MailPage,
  type PageSender,
} from './mail-page.ts'

/** The links of the mail that a page belongs to. */
export type PageLinks = { calendar: string; cancel: string }

type Shown = {
  question: Question
  page: AnswerPage
  sender: PageSender
  formToken: string
  links: PageLinks
  /** The client sent the form without a name. */
  isNameMissing?: boolean
}

/** The page of a genuine link, in the language of the client. */
export function answerPage(shown: Shown): MailPage {
  const { question, page, sender } = shown
  const language = languageOf(page)
  const texts = textsFor(language).answerPages
  const { title, lines } = pageWordsOf(texts, question, page)
  const body = [
    ...lines.map(paragraph),
    ...(question.answer === 'sign' ? signingOf(shown, language) : answeringOf(shown, language)),
    contactOf(sender, texts),
  ]
  return { sender, language, title, body }
}

export const languageOf = ({ row, business }: AnswerPage) =>
  chooseLanguage([row?.context.client?.language, business.language])

/** The page of a visit that was cancelled, for a client who wants to add it to a calendar. */
export function cancelledPage(row: ContextRow, sender: PageSender): MailPage {
  const { client, business, classSchedule } = row.context
  const language = chooseLanguage([client?.language, business.language])
  const texts = textsFor(language).answerPages
  const { title, lines } = classSchedule ? texts.class.cancelled : texts.cancelled
  const { bookingUrl } = sender.business
  const body = [
    ...lines.map(paragraph),
    cardOf(row, language, true),
    bookingUrl && linkButton(bookingUrl, texts.bookAgain),
    contactOf(sender, texts),
  ]
  return { sender, language, title, body }
}

/**
 * Answers a page if a link does not work, because people open the addresses of these routes by a link that
 * they were sent. The page does not reveal which links exist.
 */
export function explainDeadLinks(app: FastifyInstance) {
  app.setErrorHandler((error, request, reply) => {
    const isDead = error instanceof RequestError && (error.status === 404 || error.status === 410)
    if (!isDead) return sendProblem(error, request, reply)
    const wanted = (request.headers['accept-language'] ?? '').slice(0, 200).split(',')
    const language = chooseLanguage(wanted.map((one) => one.split(';')[0]!.trim()))
    const { unknown, expired } = textsFor(language).answerPages
    const { title, text } = error.status === 410 ? expired : unknown
    return sendMailPage(reply, error.status, {
      sender: null,
      language,
      title,
      body: [paragraph(text)],
    })
  })
}

type AnswerTexts = Texts['answerPages']
type Words = { title: string; lines: string[] }

function pageWordsOf(
  texts: AnswerTexts,
  { answer, objectType }: Question,
  page: AnswerPage,
): Words {
  const ofClass = objectType === 'CLASS_SCHEDULE' && answer !== 'sign'
  switch (page.state) {
    case 'ASKS':
      return ofClass ? texts.class.asks[answer] : texts.asks[answer]
    case 'DONE':
      return ofClass ? texts.class.done[answer] : texts.done[answer]
    case 'TOO_LATE':
      return { title: texts.tooLate.title, lines: [deadlineOf(texts, page)] }
    case 'GONE':
      return { title: texts.unknown.title, lines: [texts.unknown.text] }
    case 'UNDONE':
      return ofClass ? texts.class.undone : texts.undone
    case 'CANCELLED':
      return { title: cancelledTitle(texts, page), lines: [] }
    case 'MOVED':
      return texts.moved
    case 'OVER':
      return texts.over
    case 'CLOSED':
      return texts.closed
  }
}

/** Of the appointment, the whole class, or the place of one student. */
function cancelledTitle({ cancelled, class: ofClass }: AnswerTexts, { row }: AnswerPage) {
  const lesson = row?.context.classSchedule
  if (!lesson) return cancelled.title
  return lesson.isCancelled ? ofClass.cancelled.title : ofClass.done.cancel.title
}

/** “30 days” instead of “720 hours”. */
function deadlineOf({ tooLate }: AnswerTexts, { business }: AnswerPage) {
  const hours = business.cancelUntilHours ?? 0
  const isInDays = hours >= 48 && hours % 24 === 0
  return isInDays ? fillCount(tooLate.days, hours / 24) : fillCount(tooLate.hours, hours)
}

function answeringOf({ question, page, sender, formToken, links }: Shown, language: string) {
  const { state, row, business, canUndo } = page
  const texts = textsFor(language).answerPages
  const isCancelled = state === 'CANCELLED' || (state === 'DONE' && question.answer === 'cancel')
  const isComing = (state === 'DONE' && question.answer === 'confirm') || state === 'UNDONE'
  const isShown = isCancelled || isComing || SHOWN.has(state)
  const phone = phoneOf(sender)
  const isOver = state === 'OVER' || state === 'CLOSED'
  const isClass = question.objectType === 'CLASS_SCHEDULE'
  return [
    isShown && row ? cardOf(row, language, isCancelled) : '',
    isComing && row ? linksOf(row, links, language) : '',
    state === 'ASKS' ? formOf(texts, question, formToken) : '',
    (isCancelled || isOver) &&
      business.bookingUrl &&
      linkButton(business.bookingUrl, texts.bookAgain),
    // The appointment is not cancelled: booking another time would make it two.
    state === 'TOO_LATE' && phone && linkButton(telOf(phone), phone),
    canUndo && undoOf(isClass ? texts.undoClass : texts.undo, formToken),
  ]
}

/** The states in which the visit takes place as the card says. */
const SHOWN = new Set<AnswerPage['state']>(['ASKS', 'TOO_LATE', 'MOVED'])

/** The same card as in the mail. */
function cardOf({ context }: ContextRow, language: string, isGone: boolean) {
  const { calendar, classSchedule, reason, professional, location } = context
  const visit = calendar ?? classSchedule
  if (!visit) return ''
  const readers = readersOf(context, language)
  const { date, time, ownTime } = visitTimes(visit, readers)
  const { words } = readers
  const line = (name: string, value: string | null | undefined, kind = '') =>
    value ? `<p${kind}>${escapeHtml(`${name}${words.colon} ${value}`)}</p>` : ''
  const staff = professional && `${professional.firstName} ${professional.lastName}`
  return `<div class="card"><p class="when${isGone ? ' gone' : ''}">${escapeHtml(date)}<br>${escapeHtml(time)}</p>
${line(words.ownTime, ownTime, isGone ? ' class="gone"' : '')}<p class="what">${escapeHtml(classSchedule?.name ?? reason?.name ?? '')}</p>
${line(words.staff, staff)}${line(words.place, placeOf(location))}</div>`
}

/** What a client who comes needs next. */
function linksOf({ context }: ContextRow, links: PageLinks, language: string) {
  const { answerPages: texts, mail } = textsFor(language)
  const address = context.location?.address
  const entry = linkedEntry(context)
  const items = [
    textLink(links.calendar, texts.calendarFile),
    textLink(googleCalendarLink(entry), mail.addToGoogle),
    textLink(outlookCalendarLink(entry), mail.addToOutlook),
    address && textLink(mapLink(address), mail.showMap),
    textLink(links.cancel, texts.cannotCome),
  ]
  return `<ul class="links">${items.flatMap((item) => (item ? [`<li>${item}</li>`] : [])).join('')}</ul>`
}

/** Without an `action`, the browser posts to the URL of the page. */
const formWith = (formToken: string, content: string) =>
  `<form method="post"><input type="hidden" name="formToken" value="${formToken}">${content}</form>`

function formOf(texts: AnswerTexts, { answer }: Question, formToken: string) {
  const reason =
    answer === 'cancel'
      ? `<label>${escapeHtml(texts.reason)}<textarea name="reason" rows="2" maxlength="${MAX_REASON}"></textarea></label>`
      : ''
  const button = `<button class="${answer}">${escapeHtml(texts.button[answer])}</button>`
  return formWith(formToken, `${reason}${button}`)
}

export const MAX_REASON = 300

const undoOf = (text: string, formToken: string) =>
  formWith(formToken, `<button class="quiet" name="undo" value="yes">${escapeHtml(text)}</button>`)

/** A form to read and sign, or as it was signed. */
function signingOf({ page, formToken, isNameMissing }: Shown, language: string) {
  const { state, row, signature } = page
  const texts = textsFor(language).answerPages
  const form = row?.context.disclaimer
  if (!form || (state !== 'ASKS' && state !== 'DONE')) return []
  const text = signature ? signature.text : (form.formBody ?? '')
  const readers = readersOf(row.context, language)
  const time =
    signature &&
    timeAtLocation(readers.atLocation.dateTime(signature.time), signature.time, readers)
  return [
    `<h2>${escapeHtml(form.formName)}</h2>`,
    text && `<div class="text">${escapeHtml(text)}</div>`,
    signature && time && paragraph(fillText(texts.signed, { name: signature.name, time })),
    state === 'ASKS' &&
      formWith(
        formToken,
        `${isNameMissing ? `<p class="alert" role="alert">${escapeHtml(texts.nameMissing)}</p>` : ''}` +
          `<label>${escapeHtml(texts.name)}<input type="text" name="name" maxlength="200" autocomplete="name" required></label>` +
          `<button>${escapeHtml(texts.button.sign)}</button>`,
      ),
  ]
}

function contactOf(sender: PageSender, texts: AnswerTexts) {
  const phone = phoneOf(sender)
  const address = sender.business.emailAddress
  const ways = [
    phone && textLink(telOf(phone), phone),
    address && `<a href="mailto:${escapeHtml(address)}">${escapeHtml(address)}</a>`,
  ].filter(Boolean)
  if (ways.length === 0) return ''
  return `<p class="soft">${[escapeHtml(texts.contact), ...ways].join('<br>')}</p>`
}

/** The first of these languages that the pages support; else English. */
export function chooseLanguage(wanted: (string | null | undefined)[]) {
  const known = wanted.flatMap((one) => knownLanguage(one) ?? [])
  return known.find((one) => LANGUAGES.includes(one.split('-')[0]!)) ?? 'en'
}
