import type { Translate } from '../texts/translate.ts'

/** Who made a change: a person, a key, a feed, the service, the client by a link, or an unknown user. */
export function nameOfUser(user: string | null, t: Translate) {
  if (user === null) return t('message.someone')
  if (user === 'SYSTEM') return t('message.system')
  if (user === 'CLIENT') return t('message.client')
  if (user === 'OPERATOR') return t('message.operator')
  if (user.startsWith('feed:')) return t('message.feed', { name: user.slice(5) })
  return user.startsWith('key:') ? t('message.key', { name: user.slice(4) }) : user
}
