import type { Db } from '../database/database.ts'
import { listBusinessesInQueue, type Queue, type Shares } from '../store/queue.ts'

/** How many businesses are read at a time, with and without due rows. */
const PAGE = 200

type Request = { now: Temporal.Instant; limit: number }

type Claiming<Row> = {
  isExcluded(businessId: number): boolean
  claimShares(shares: Shares): Promise<Row[]>
}

/**
 * Iterates over the businesses, so that each with due rows gets its share of a claim: a burst of one
 * business does not delay the others.
 */
export class FairShare {
  readonly #queue: Queue
  /** The last business that got its share. */
  #after = 0

  constructor(queue: Queue) {
    this.#queue = queue
  }

  get #isAtStart() {
    return this.#after === 0
  }

  /** The next businesses with due rows and the share of each; undefined if their page has none. */
  async next(
    db: Db,
    { now, limit }: Request,
    isExcluded: (businessId: number) => boolean = () => false,
  ): Promise<(Shares & { isOnlyBusiness: boolean }) | undefined> {
    const wasAtStart = this.#isAtStart
    const page = await listBusinessesInQueue(db, this.#queue, {
      now,
      after: this.#after,
      limit: PAGE,
    })
    const due = page
      .filter(({ businessId, isDue }) => isDue && !isExcluded(businessId))
      .map(({ businessId }) => businessId)
    const businessIds = due.slice(0, limit)
    const last = businessIds.length < due.length ? businessIds.at(-1) : page.at(-1)?.businessId
    const isLastPage = page.length < PAGE && businessIds.length === due.length
    this.#after = isLastPage ? 0 : last!
    if (businessIds.length === 0) return undefined
    const share = Math.max(1, Math.floor(limit / businessIds.length))
    const isOnlyBusiness = businessIds.length === 1 && wasAtStart && isLastPage
    return { businessIds, share, isOnlyBusiness }
  }

  /** Claims the share of the first page of businesses of which rows can be claimed. */
  async claimNext<Row>(
    db: Db,
    request: Request,
    { isExcluded, claimShares }: Claiming<Row>,
  ): Promise<Row[]> {
    // One pass from the last business that got its share to the last one, then one over all of them.
    for (let passesLeft = this.#isAtStart ? 1 : 2; passesLeft > 0;) {
      const shares = await this.next(db, request, isExcluded)
      const claimed = shares ? await claimShares(shares) : []
      if (claimed.length > 0) return claimed
      if (this.#isAtStart) passesLeft -= 1
    }
    return []
  }
}
