/** A page of rows in the order of their ids. */
export type PageAfter = { after: number; limit: number }

/**
 * Reads rows page by page; `read` gets the last row of the page before. A page that is not full is the
 * last one.
 */
export async function* pagesOf<Row>(
  limit: number,
  read: (last: Row | undefined) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let last: Row | undefined; ;) {
    const page = await read(last)
    if (page.length > 0) yield page
    if (page.length < limit) return
    last = page.at(-1)
  }
}
