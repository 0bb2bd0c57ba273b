import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { Command } from 'commander'
import { OBJECT_KINDS } from '../contract/objects.ts'
import { StartError } from '../errors.ts'
import { exportBusiness, type ExportLine } from '../scheduling/export.ts'
import { countObjects } from '../store/exported-objects.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { withProgress } from './progress.ts'
import { withDatabase } from './with-database.ts'

type Options = { business?: number; out?: string }

export const command = new Command()
  .option(
    '--business <businessId>',
    'business to export; required if there are several',
    wholeNumber,
  )
  .option('--out <file>', 'output file (default: standard output)')
  .addHelpText('after', '\nDoes not export API keys, people and sent emails. See docs/import.md.')
  .action((options: Options) =>
    withDatabase(async ({ database }) => {
      const businessId = await chooseBusiness(database, options.business)
      const db = database.forBusiness(businessId, 'SYSTEM')
      const total = Math.max(1, await countObjects(db, businessId, OBJECT_KINDS))
      const file = await openFile(options.out)
      try {
        await withProgress(`Exporting business ${businessId}`, 'lines', async (report) => {
          let done = 0
          await exportBusiness(db, businessId, async (lines) => {
            await file.write(lines)
            done += lines.length
            report({ share: Math.min(1, done / total), done })
          })
        })
        await file.keep()
      } catch (error) {
        await file.drop()
        throw error
      }
    }),
  )

/** Writes to `<name>.part` and renames it at the end, so that a partial file is never used. */
async function openFile(name: string | undefined) {
  const partial = `${name}.part`
  const out = name === undefined ? process.stdout : createWriteStream(partial)
  if (name !== undefined) {
    await once(out, 'open').catch((error: NodeJS.ErrnoException) => {
      throw new StartError(`${name} cannot be written (${error.code}).`)
    })
  }
  const write = async (lines: ExportLine[]) => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    if (text !== '' && !out.write(text)) await once(out, 'drain')
  }
  const keep = async () => {
    if (name === undefined) return
    out.end()
    await finished(out)
    await rename(partial, name)
  }
  const drop = async () => {
    if (name === undefined) return
    out.destroy()
    await rm(partial, { force: true })
  }
  return { write, keep, drop }
}
