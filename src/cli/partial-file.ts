import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { StartError } from '../errors.ts'

/** Writes to `<name>.part` and renames it at the end, so that a partial file is never used. */
export async function openPartialFile(name: string) {
  const partial = `${name}.part`
  // Only this user may read it: it contains personal data.
  const out = createWriteStream(partial, { mode: 0o600, flush: true })
  const explain = (error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    return new StartError(`${name} cannot be written (${code}).`)
  }
  await once(out, 'open').catch((error) => {
    throw explain(error)
  })
  // The next write or `keep` throws it.
  out.on('error', () => {})
  const keep = async () => {
    if (!out.writableFinished) {
      out.end()
      await finished(out)
    }
    await rename(partial, name)
  }
  /** Returns the cause: of a failure of the file, in one line. */
  const drop = async (cause?: unknown) => {
    out.destroy()
    await rm(partial, { force: true })
    return cause !== undefined && cause === out.errored ? explain(cause) : cause
  }
  return { out, keep, drop }
}
