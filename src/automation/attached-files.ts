import type { Db } from '../database/database.ts'
import { encodeFile, fillFiles, type Message } from '../email/message.ts'
import { findFile, readContent } from '../store/files.ts'
import { RecentlyUsed } from '../recently-used.ts'
import { WorkQueue } from '../work-queue.ts'

/** Up to this size, such as logos, files do not limit how many messages are sent at once. */
const SMALL_BYTES = 256 * 1024

/** In base64, 200 small files take 68 MB at most, and eight of 5 MB take 56 MB. */
const MAX_CACHED = { small: 200, large: 8 }
const MAX_LARGE_MESSAGES = { total: 4, perBusiness: 2 }

/** Further mails do not wait here, because they would take the slots of mails that can be sent. */
const MAX_LARGE_WAITING = 2
const MAX_CACHED_SIZES = 2_000

/**
 * Puts the content of files into messages when they are sent. A stored message only refers to its
 * files: a thousand mails with the same file would otherwise store it a thousand times.
 */
export class AttachedFiles {
  readonly #db: Db
  /** In base64, by business and file. The content of a file never changes. */
  readonly #contents = {
    small: new RecentlyUsed<string, Promise<string | undefined>>(MAX_CACHED.small),
    large: new RecentlyUsed<string, Promise<string | undefined>>(MAX_CACHED.large),
  }
  readonly #sizes = new RecentlyUsed<string, number>(MAX_CACHED_SIZES)
  /** A message with large files takes up to 14 MB, and is copied while it is sent. */
  readonly #largeMessages = new WorkQueue(MAX_LARGE_MESSAGES)
  #largeCount = 0

  constructor(db: Db) {
    this.#db = db
  }

  /**
   * Calls `send` with the whole message; with undefined if the content of a file was deleted. Does
   * nothing and returns 'busy' if too many messages with large files are being sent.
   */
  async use<T>(
    businessId: number,
    message: Message,
    fileUUIds: string[],
    send: (whole: Message | undefined) => Promise<T>,
  ): Promise<T | 'busy'> {
    const fillAndSend = async () => send(await this.#fill(businessId, message, fileUUIds))
    const sizes = await Promise.all(fileUUIds.map((file) => this.#sizeOf(businessId, file)))
    if (sizes.every((size) => size <= SMALL_BYTES)) return fillAndSend()
    if (this.#largeCount >= MAX_LARGE_MESSAGES.total + MAX_LARGE_WAITING) return 'busy'
    this.#largeCount++
    try {
      return await this.#largeMessages.run({ businessId }, fillAndSend)
    } finally {
      this.#largeCount--
    }
  }

  async #fill(businessId: number, message: Message, fileUUIds: string[]) {
    const contents = new Map<string, string>()
    for (const fileUUId of fileUUIds) {
      const content = await this.#read(businessId, fileUUId)
      if (content === undefined) return undefined
      contents.set(fileUUId, content)
    }
    return fillFiles(message, contents)
  }

  async #sizeOf(businessId: number, fileUUId: string) {
    const key = keyOf(businessId, fileUUId)
    const known = this.#sizes.get(key)
    if (known !== undefined) return known
    const file = await findFile(this.#db, businessId, fileUUId)
    const size = file?.size ?? 0
    this.#sizes.set(key, size)
    return size
  }

  async #read(businessId: number, fileUUId: string) {
    const isSmall = (await this.#sizeOf(businessId, fileUUId)) <= SMALL_BYTES
    const cache = this.#contents[isSmall ? 'small' : 'large']
    const key = keyOf(businessId, fileUUId)
    const known = cache.get(key)
    if (known) return known
    const reading = readContent(this.#db, businessId, fileUUId).then((bytes) =>
      bytes ? encodeFile(bytes) : undefined,
    )
    cache.set(key, reading)
    // A failure is not cached.
    reading.catch(() => cache.delete(key))
    return reading
  }
}

const keyOf = (businessId: number, fileUUId: string) => `${businessId} ${fileUUId}`
