import { once } from 'node:events'
import { Command } from 'commander'
import { OBJECT_KINDS } from '../contract/objects.ts'
import { exportBusiness, type ExportLine } from '../scheduling/export.ts'
import { countObjects } from '../store/exported-objects.ts'
import { chooseBusiness, wholeNumber } from './named-business.ts'
import { openPartialFile } from './partial-file.ts'
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
      let file = await openOutput(options.out)
      try {
        await withProgress(`Exporting business ${businessId}`, 'lines', (report) =>
          // What was written to standard output cannot be taken back.
          exportBusiness(
            options.out ? database.replicaOr(businessId, db) : db,
            businessId,
            async () => {
              await file.drop()
              file = await openOutput(options.out)
              let done = 0
              return async (lines) => {
                await file.write(lines)
                done += lines.length
                report({ share: Math.min(1, done / total), done })
              }
            },
          ),
        )
        await file.keep()
      } catch (error) {
        throw await file.drop(error)
      }
    }),
  )

async function openOutput(name: string | undefined) {
  const file = name === undefined ? undefined : await openPartialFile(name)
  const out = file?.out ?? process.stdout
  const write = async (lines: ExportLine[]) => {
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    if (out.errored) throw out.errored
    if (text !== '' && !out.write(text)) await once(out, 'drain')
  }
  return {
    write,
    keep: async () => file?.keep(),
    drop: async (cause?: unknown) => (file ? file.drop(cause) : cause),
  }
}
