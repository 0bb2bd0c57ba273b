import { createClient } from '../../src/client/client.ts'
import { currentLanguage } from '../texts/translate.ts'

let expectedUser: number | undefined

/**
 * The person that this page belongs to. If somebody else signs in in another tab, the service refuses
 * the requests of this page instead of doing them for the other person or business.
 */
export function expectUser(userId: number | undefined) {
  expectedUser = userId
}

/** Calls the service as the signed-in person: the browser sends the session cookie. */
export const client = createClient({
  baseUrl: '',
  fetch: (url, init) => {
    const headers = new Headers(init?.headers)
    headers.set('accept-language', currentLanguage())
    if (expectedUser !== undefined) headers.set('expect-user', String(expectedUser))
    return fetch(url, { ...init, headers })
  },
  // The query client retries queries; actions of a person are not retried automatically.
  retries: 0,
})

/** The largest page that lists answer. */
export const MAX_PAGE = 500

/** Every item of a list, page after page. */
export async function all<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of list) items.push(item)
  return items
}
