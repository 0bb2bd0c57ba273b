import { textOr, useTranslation } from '../texts/translate.ts'
import type { Feed, FeedEntry } from '../api/feeds.ts'

/** How the health of a feed is coloured. */
export const healthTone = ({ health }: Feed['state']) => (health === 'OK' ? '' : 'clay')

/** Why an entry is held or skipped: known reasons in the language of the person. */
export function useReasonWords() {
  const { t } = useTranslation()
  return {
    ofEntry: ({ reasonCode, reason }: FeedEntry) =>
      reasonCode === null
        ? ''
        : textOr(`settings.feeds.reasons.${reasonCode}`, reason ?? reasonCode),
    ofCode: (code: string) => textOr(`settings.feeds.reasons.${code}`, code),
    field: (field: string) => textOr(`settings.feeds.fields.${field}`, field),
    t,
  }
}

/** How a source calls what a feed signs in with. */
export const secretLabel = (source: Feed['source']) =>
  source === 'ICS'
    ? 'settings.feeds.address'
    : source === 'CALCOM'
      ? 'settings.feeds.apiKey'
      : source === 'EASYAPPOINTMENTS'
        ? 'settings.feeds.apiToken'
        : 'settings.feeds.password'

/** Sources that Bellwether reads; the others send. */
export const isRead = ({ source }: Pick<Feed, 'source'>) => source !== 'INLET'
