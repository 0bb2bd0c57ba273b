import type { Db } from '../database/database.ts'
import { encodeFile, fillFiles, type Message } from '../email/message.ts'
import { readContent } from '../store/files.ts'
import { RecentlyUsed } from '../store/recently-used.ts'
import { WorkQueue } from '../work-queue.ts'

/** Eight files of 5 MB take 56 MB in base64. */
const MAX_CACHED = 8
const MAX_MESSAGES = { total: 4, perBusiness: 2 }

/**
 * Puts the content of files into messages when they are sent. A stored message only names its files:
 * a thousand mails with the same file would otherwise store it a thousand times.
 */
export class AttachedFiles {
  readonly #db: Db
  /** In base64, by business and file. The content of a file never changes. */
  readonly #contents = new RecentlyUsed<string, Promise<string | undefined>>(MAX_CACHED)
  /** A message with its files takes up to 14 MB, and is copied while it is sent. */
  readonly #messages = new WorkQueue(MAX_MESSAGES)

  constructor(db: Db) {
    this.#db = db
  }

  /** Calls `send` with the whole message; with undefined if the content of a file was deleted. */
  use<T>(
    businessId: number,
    message: Message,
    fileUUIds: string[],
    send: (whole: Message | undefined) => Promise<T>,
  ): Promise<T> {
    return this.#messages.run({ businessId }, async () => {
      const contents = new Map<string, string>()
      for (const fileUUId of fileUUIds) {
        const content = await this.#read(businessId, fileUUId)
        if (content === undefined) return send(undefined)
        contents.set(fileUUId, content)
      }
      return send(fillFiles(message, contents))
    })
  }

  #read(businessId: number, fileUUId: string) {
    const key = `${businessId} ${fileUUId}`
    const known = this.#contents.get(key)
    if (known) return known
    const reading = readContent(this.#db, businessId, fileUUId).then((bytes) =>
      bytes ? encodeFile(bytes) : undefined,
    )
    this.#contents.set(key, reading)
    // A failure is not cached.
    reading.catch(() => this.#contents.delete(key))
    return reading
  }
}
