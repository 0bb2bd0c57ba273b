import { readAnswerLink, type ClientAnswer, type AskingMail } from './answer-links.ts'
import type { UnsubscribedMail } from './unsubscribe.ts'

/** Makes the links of a mail, which work for that mail and its recipient alone. */
export type MailLinks = {
  unsubscribe(mail: UnsubscribedMail): string
  addToCalendar(mail: UnsubscribedMail): string
  answer(mail: AskingMail): Record<ClientAnswer, string>
}

/** The text or HTML of a mail with the links of another mail. Answers are about the same start time. */
export const replaceLinks = (
  content: string,
  mail: Omit<AskingMail, 'startTime'>,
  links: MailLinks,
) =>
  content
    .replace(SEALED_LINK, (_, purpose: 'unsubscribe' | 'addToCalendar') => links[purpose](mail))
    .replace(ANSWER_LINK, (link: string, token: string) => {
      const named = readAnswerLink(token)
      return named ? links.answer({ ...mail, startTime: named.startTime })[named.answer] : link
    })

const SEALED_LINK = /https?:\/\/[^\s"'<>]*\/(unsubscribe|addToCalendar)\/\d+\.\d+\.[\w-]{22}/g
const ANSWER_LINK = /https?:\/\/[^\s"'<>]*\/answer\/([a-z]+\.\d+\.\d+\.[0-9a-z]+\.[\w-]{22})/g
