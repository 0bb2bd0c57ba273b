import { createClient } from '../../src/client/client.ts'

/** Calls the service as the signed-in person: the browser sends the session cookie. */
export const client = createClient({
  baseUrl: '',
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
