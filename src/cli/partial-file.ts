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
  await once(out, 'open').catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`${name} cannot be written (${error.code}).`)
  })
  const keep = async () => {
    if (!out.writableFinished) {
      out.end()
      await finished(out)
    }
    await rename(partial, name)
  }
  const drop = async () => {
    out.destroy()
    await rm(partial, { force: true })
  }
  return { out, keep, drop }
}
