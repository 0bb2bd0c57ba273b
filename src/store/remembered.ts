import { raw, sql } from '../database/sql.ts'

/**
 * Keeps what every save needs and few ever change, for each business, as long as its mark is the
 * same: the mark is read in the transaction, so that what is used is what would have been read.
 */
export class Remembered<Value> {
  readonly #kept = new Map<number, { mark: string; value: Value }>()

  async at(businessId: number, mark: string, read: () => Promise<Value>): Promise<Value> {
    const kept = this.#kept.get(businessId)
    if (kept?.mark === mark) return kept.value
    const value = await read()
    if (this.#kept.size >= MOST_BUSINESSES) this.#kept.clear()
    this.#kept.set(businessId, { mark, value })
    return value
  }
}

const MOST_BUSINESSES = 1_000

/**
 * Other than before as soon as one of the business's rows came or changed: rows of these tables
 * are never removed, and their versions only grow. Another database has other marks.
 */
export const markOf = (table: 'event_definition' | 'status', businessId: number) => sql`
  (select concat_ws(' ', current_database(), count(*), sum(version), max(modified_date))
   from ${raw(table)} where business_id = ${businessId})`
