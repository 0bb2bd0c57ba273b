import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { copyIntoTemporary, withClient } from '../database/backup.ts'
import { isBackup } from '../database/backup-file.ts'
import type { Database } from '../database/database.ts'
import { StartError } from '../errors.ts'
import { OBJECT_KINDS } from '../contract/objects.ts'
import { eraseClient } from '../scheduling/erase-client.ts'
import { idOfOrigin, type OriginBusiness } from '../scheduling/origins.ts'
import { isMailLogLine, readMailLog, type TakenMail } from '../email/mail-log.ts'
import {
  findHold,
  LOST_CHANGES,
  saveNewerState,
  type LostChange,
  type NewerState,
} from '../store/installation.ts'
import {
  endMailsBefore,
  expireSentBefore,
  listLoggedInQueue,
  listTriggersLogged,
} from '../store/sent-before.ts'
import type { TriggerKey } from '../store/trigger-queue.ts'
import {
  createNewerTables,
  insertNewerClients,
  insertNewerObjects,
  insertNewerSuppressions,
  listBusinessesNamed,
  listEndedMails,
  listNewerErasures,
  listTriggersBegun,
  NEWER_TABLES,
  takeCancellations,
  takeOutcomes,
  takeSuppressions,
  type ExportedState,
  type ExportedSuppression,
  type NewerObject,
  type Run,
} from '../store/newer-state.ts'

type Held = { database: Database; heldSince: Temporal.Instant; now: Temporal.Instant }

/**
 * Takes from a newer backup or export what decides about mails: cancellations, erasures, suppressions,
 * and from a backup or the log of a mail server also what was sent. Nothing else of the newer state is
 * taken. Returns it together with what was taken before.
 */
export async function takeNewerState(
  url: string,
  database: Database,
  file: string,
  now: Temporal.Instant,
): Promise<NewerState> {
  const hold = await findHold(database.operator)
  if (!hold) {
    throw new StartError('The database is not held: a newer state is taken before the release.')
  }
  const held = { database, heldSince: hold.heldSince, now }
  const isLog = !(await isBackup(file)) && (await isMailLog(file))
  const taken = isLog ? await takeLog(held, file) : await takeDatabase(held, url, file)
  const state = hold.newerState ? merge(hold.newerState, taken) : taken
  await saveNewerState(database.operator, state)
  return state
}

const merge = (one: NewerState, other: NewerState): NewerState => ({
  known: [...one.known, ...other.known],
  cancellations: one.cancellations + other.cancellations,
  erasures: one.erasures + other.erasures,
  suppressions: one.suppressions + other.suppressions,
  sentMails: one.sentMails + other.sentMails,
  sentBefore: addUp([...one.sentBefore, ...other.sentBefore]),
})

const addUp = (counts: NewerState['sentBefore']) =>
  [...Map.groupBy(counts, ({ eventDefnId }) => eventDefnId).values()].map((group) => ({
    ...group[0]!,
    triggers: group.reduce((sum, { triggers }) => sum + triggers, 0),
  }))

async function takeDatabase({ database, now }: Held, url: string, file: string) {
  const { erased, mails, begun, ...taken } = await withClient(
    url,
    'bellwether_newer_state',
    async (client) => {
      const run: Run = async (text, values = []) => (await client.query(text, values)).rows
      await client.query('begin')
      await client.query(`select set_config('app.username', 'OPERATOR', true)`)
      const result = {
        known: await readInto(client, run, file),
        cancellations: await takeCancellations(run, now),
        suppressions: await takeSuppressions(run),
        sentBefore: await takeOutcomes(run),
        erased: await listNewerErasures(run),
        mails: await listEndedMails(run),
        begun: await listTriggersBegun(run),
      }
      await client.query('commit')
      return result
    },
  )
  const sent = await database.engine.transaction(async (tx) => ({
    sentMails: await endMailsBefore(tx, mails, now),
    expired: await expireSentBefore(tx, begun, now),
  }))
  for (const client of erased) await eraseClient(database, client, now)
  return {
    ...taken,
    sentMails: sent.sentMails,
    sentBefore: addUp([...taken.sentBefore, ...sent.expired]),
    erasures: erased.length,
  }
}

/** Fills the temporary tables, and returns what the file tells about. */
async function readInto(
  client: Parameters<typeof copyIntoTemporary>[0],
  run: Run,
  file: string,
): Promise<NewerState['known']> {
  if (!(await isBackup(file))) return readExport(run, file)
  await copyIntoTemporary(client, file, NEWER_TABLES)
  return [{ businessId: null, changes: [...LOST_CHANGES] }]
}

export const describeNewerState = (
  taken: Pick<NewerState, 'cancellations' | 'erasures' | 'suppressions' | 'sentMails'>,
) =>
  `Taken from the newer state: ${taken.cancellations} cancellations, ${taken.erasures} erasures, ` +
  `${taken.suppressions} suppressions, ${taken.sentMails} mails of the queue that were sent.`

/** For `--since`, which can be repeated. */
export const collectFiles = (file: string, files: string[] = []) => [...files, file]

const readLines = (file: string) =>
  createInterface({ input: createReadStream(file), crlfDelay: Infinity })

async function isMailLog(file: string) {
  for await (const line of readLines(file)) {
    if (line.startsWith('{')) return false
    if (isMailLogLine(line)) return true
  }
  return false
}

/** All in one transaction: a log that cannot be read to its end changes nothing. */
const takeLog = ({ database, heldSince, now }: Held, file: string) =>
  database.engine.transaction(async (tx): Promise<NewerState> => {
    let sentMails = 0
    const triggers: TriggerKey[] = []
    const flush = async (mails: TakenMail[]) => {
      sentMails += await endMailsBefore(tx, await listLoggedInQueue(tx, mails), now)
      triggers.push(...(await listTriggersLogged(tx, mails, heldSince)))
    }
    let batch: TakenMail[] = []
    for await (const mail of readMailLog(readLines(file))) {
      batch.push(mail)
      if (batch.length < BATCH) continue
      await flush(batch)
      batch = []
    }
    await flush(batch)
    return {
      known: [{ businessId: null, changes: ['sentMails'] }],
      cancellations: 0,
      erasures: 0,
      suppressions: 0,
      sentMails,
      sentBefore: await expireSentBefore(tx, triggers, now),
    }
  })

const OBJECTS: Record<string, NewerObject> = {
  calendar: 'calendar',
  classSchedule: 'class_schedule',
  invitation: 'invitation',
  recall: 'recall',
  disclaimer: 'disclaimer',
}

type ExportLine = { kind: string; name?: string; origin?: string } & Partial<
  ExportedState & ExportedSuppression
>

const BATCH = 1_000

/**
 * The clients and objects of an export are found by their `origin`. If one has none of this business, such
 * as in an export of an older version, nobody knows whether it was erased or cancelled.
 */
async function readExport(run: Run, file: string): Promise<NewerState['known']> {
  await createNewerTables(run)
  let business: OriginBusiness | undefined
  const unknown = new Set<LostChange>(['sentMails'])
  const batches = new Map<string, ExportLine[]>()
  const flush = async (kind: string, lines: ExportLine[]) => {
    const { businessId } = business!
    const table = OBJECTS[kind]
    if (table) await insertNewerObjects(run, table, businessId, lines as ExportedState[])
    else if (kind === 'client') await insertNewerClients(run, businessId, lines as ExportedState[])
    else await insertNewerSuppressions(run, businessId, lines as ExportedSuppression[])
  }
  for await (const text of readLines(file)) {
    const line = parseLine(file, text)
    if (line.kind === 'business') business = await findBusiness(run, line.name)
    if (!business) throw new StartError(`${file} does not begin with a business.`)
    const kind = OBJECT_KINDS.find((one) => one.kind === line.kind)
    const tells = line.kind === 'client' ? 'erasures' : OBJECTS[line.kind] && 'cancellations'
    const id = tells && kind && idOfOrigin(kind, line.origin, business)
    if (tells && id === undefined) unknown.add(tells)
    if (id === undefined && line.kind !== 'suppression') continue
    const batch = [...(batches.get(line.kind) ?? []), { ...line, id }]
    batches.set(line.kind, batch.length < BATCH ? batch : [])
    if (batch.length === BATCH) await flush(line.kind, batch)
  }
  for (const [kind, lines] of batches) await flush(kind, lines)
  if (!business) throw new StartError(`${file} does not begin with a business.`)
  const changes = LOST_CHANGES.filter((change) => !unknown.has(change))
  return [{ businessId: business.businessId, changes }]
}

function parseLine(file: string, text: string): ExportLine {
  try {
    return JSON.parse(text)
  } catch {
    throw new StartError(
      `${file} is neither a backup nor an export, nor a log of Postfix or Exim: a line is not JSON.`,
    )
  }
}

async function findBusiness(run: Run, name: string | undefined) {
  const [business, ...others] = await listBusinessesNamed(run, name)
  if (business && others.length === 0) return business
  throw new StartError(`The export is of ${name}: there is no such business, or several.`)
}
