import fs from 'node:fs'
import type pg from 'pg'
import { asConnectionError, DISK_FULL, DiskFullError } from './postgres-errors.ts'

/**
 * Whether the disk of the database is full: from a statement that failed because of it until the server can
 * write a file again. Of the embedded server the free space is known as well.
 */
export class DatabaseDisk {
  readonly #folder: string | undefined
  #isFull = false

  /** `folder`: that of the embedded server. */
  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** Reads the errors of a connection, whichever statement they answer. */
  watch(client: pg.ClientBase) {
    const { connection } = client as unknown as {
      connection: { on(event: 'errorMessage', listener: (error: { code: string }) => void): void }
    }
    connection.on('errorMessage', ({ code }) => void (code === DISK_FULL && (this.#isFull = true)))
  }

  /** Throws if the disk is full. Only after a failure does it write a file to find out. */
  async check(client: pg.ClientBase) {
    if (!this.#isFull) return
    try {
      await client.query(WRITE_TEMPORARY_FILE)
      this.#isFull = false
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw (error as { code?: unknown }).code === DISK_FULL ? new DiskFullError() : error
    }
  }

  /** A server whose disk is full may stop, and then refuses connections without saying why. */
  explain(error: unknown) {
    return this.isFull() ? new DiskFullError() : asConnectionError(error)
  }

  isFull() {
    const { freeBytes } = this.space() ?? {}
    return this.#isFull || (freeBytes !== undefined && freeBytes < MIN_FREE_BYTES)
  }

  /** Undefined if the server is not the embedded one. */
  space() {
    if (this.#folder === undefined) return undefined
    try {
      const { bavail, blocks, bsize } = fs.statfsSync(this.#folder)
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
    } catch {
      return undefined
    }
  }
}

/** PostgreSQL stops if it cannot make the next file of its write-ahead log, which has 16 MiB. */
const MIN_FREE_BYTES = 2 ** 24

/** About 6 MB in the folder for temporary files. No table is needed for it, and no right. */
const WRITE_TEMPORARY_FILE = `
  begin read only; set local work_mem = '64kB'; select count(*) from generate_series(1, 200000); commit`
