import { useQuery } from '@tanstack/react-query'
import { setupQuery } from '../api/setup.ts'
import type { Feed, FeedEntry } from '../api/feeds.ts'
import { useTranslation } from '../texts/translate.ts'
import { optionsOf } from './default-fields.tsx'

export type Rule = Feed['rules'][number]

export const TEXT_CONDITIONS = [
  'title',
  'calendar',
  'attendee',
  'organizer',
  'location',
  'category',
] as const

/** The rule that an entry suggests: its title, and what a person decided about it. */
export function ruleOf({ title, correction }: FeedEntry): Rule {
  const { clientId: _clientId, skip, ...then } = correction ?? {}
  return { when: { title: asCondition(title) }, then: skip ? { skip } : then }
}

/** A rule holds a part of a long title, and `*` for the rest. */
const asCondition = (title: string | null) =>
  title !== null && title.length > MAX_TITLE ? `${title.slice(0, MAX_TITLE - 1)}*` : title

const MAX_TITLE = 300

/** A rule in words: its conditions, and what it decides. */
export function useRuleWords() {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const options = optionsOf(setup)
  return {
    conditions: ({ when }: Rule) =>
      [
        ...TEXT_CONDITIONS.flatMap((field) => {
          const text = when[field]
          return text ? t(`settings.feeds.rules.is.${field}`, { text }) : []
        }),
        when.busy == null ? [] : t(`settings.feeds.rules.${when.busy ? 'busy' : 'free'}`),
      ]
        .flat()
        .join(', ') || t('settings.feeds.rules.always'),
    effects: ({ when, then }: Rule) => {
      if (then.skip) return t('settings.feeds.rules.skips')
      const chosen = (['professionalId', 'reasonId', 'locationId'] as const).flatMap((field) => {
        const id = then[field]
        if (id == null) return []
        const name =
          options[field].find(({ value }) => value === String(id))?.label ??
          t('words.noLongerActive')
        return `${t(`settings.feeds.fields.${field}`)}: ${name}`
      })
      const status = setup?.statuses.find((one) => one.status === then.status)?.label
      return [
        namesParts(when.title ?? '') ? t('settings.feeds.rules.names') : [],
        then.kind ? t(`settings.feeds.rules.kinds.${then.kind}`) : [],
        chosen,
        then.status ? `${t('settings.feeds.fields.status')}: ${status ?? then.status}` : [],
      ]
        .flat()
        .join(', ')
    },
  }
}

/** Whether a title names a part, which is an effect by itself, as in the service. */
export const namesParts = (title: string) => /\{(client|service)\}/i.test(title)
