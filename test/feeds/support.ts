import { until } from '../support/until.ts'
import type { shareWorld } from '../support/world.ts'

type World = Awaited<ReturnType<ReturnType<typeof shareWorld>>>

/** Waits for the end of a run. */
export async function endOfRun({ call }: Pick<World, 'call'>, path: string, feedRunId: number) {
  const read = () => call('GET', `${path}/run/${feedRunId}`)
  await until(async () => (await read()).body.status !== 'RUNNING')
  return read()
}

/** An INLET feed of the world's business, and calls for it. */
export async function openInlet(world: World, more: object = {}) {
  const { call, clock, ids, save } = world
  const { clientId: _clientId, ...defaults } = ids
  const { feedId } = await save('/feed', {
    name: 'Salon',
    source: 'INLET',
    mode: 'SHADOW',
    defaults,
    ...more,
  })
  const path = `/feed/${feedId}`
  const inHours = (hours: number) => clock.now().add({ minutes: hours * 60 }).epochMilliseconds
  /** An entry of half an hour with Anna, whom the world knows. */
  const entry = (key: string, changes: Record<string, unknown> = {}) => {
    const startTime = Number(changes.startTime ?? inHours(48))
    return {
      key,
      version: 1,
      startTime,
      endTime: startTime + 1_800_000,
      client: { emailAddress: 'anna@example.org', firstName: 'Anna', lastName: 'Müller' },
      ...changes,
    }
  }
  const send = async (entries: unknown[], complete?: object) => {
    const { status, body } = await call('POST', `${path}/entries`, {
      entries,
      ...(complete && { complete }),
    })
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body
  }
  const allKeys = (...keys: string[]) => ({ from: inHours(-24), to: inHours(24 * 300), keys })
  /** The first one is history: it fires no events. */
  const begin = (...entries: object[]) =>
    send(entries, allKeys(...entries.map((one) => (one as { key: string }).key)))
  const entries = async (query = '') => (await call('GET', `${path}/entry${query}`)).body.items
  const entryOf = async (key: string) =>
    (await entries('?limit=500')).find((one: { key: string }) => one.key === key)
  const objectOf = async (key: string) => {
    const { objectType, objectId } = await entryOf(key)
    const kind = objectType === 'CALENDAR' ? 'calendar' : 'classSchedule'
    return (await call('GET', `/${kind}/${objectId}`)).body
  }
  const go = (mode: string) => call('POST', '/feed', { feedId, mode })
  return { feedId, path, inHours, entry, send, begin, allKeys, entries, entryOf, objectOf, go }
}
