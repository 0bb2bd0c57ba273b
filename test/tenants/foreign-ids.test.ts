import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import type { Field } from '../../src/contract/fields.ts'
import { OBJECT_KINDS } from '../../src/contract/objects.ts'
import { asOwner, type Table } from './catalogue.ts'
import { readRoutes, type Position, type Request } from './id-positions.ts'
import { dump, MARKER } from './rows.ts'
import { startTwoBusinesses, type Ids } from './two-businesses.ts'

/** An id of the same format that no business has. */
const missing = (id: number | string) =>
  typeof id === 'number'
    ? 99_999_999_999
    : /^[a-z0-9]{32}$/.test(id)
      ? 'z'.repeat(32)
      : 'NO_SUCH_THING'

test('an id of another business is answered like a missing one, in every parameter of every route', async (t) => {
  const { app, url, tables, own, other } = await startTwoBusinesses(t)
  const before = await dump(url, tables, other.businessId)
  const routes = await readRoutes(app, own.ids, own.bodies)
  const send = async ({ method, url: path, body }: Request) => own.call(method, path, body)
  const accepted: string[] = []
  let tried = 0

  await asOwner(url, async (client) => {
    for (const { name, plain, positions } of routes) {
      for (const position of positions) {
        for (const id of candidates(position, other.ids)) {
          tried += 1
          const state = await stateOf(client, tables)
          const foreign = await send(position.requestWith(id))
          const absent = await send(position.requestWith(missing(id)))
          const where = `${name} ${position.place} with ${id}`
          assert.equal(foreign.status, absent.status, where)
          assert.ok(foreign.status < 500, `${where}: ${foreign.status}`)
          // An answer may repeat the id that the request named.
          const answered = JSON.stringify(without(id, foreign.body))
          assert.equal(answered.includes(MARKER), false, `${where} leaks`)
          if (foreign.status < 400) continue
          assert.deepEqual(without(id, foreign.body), without(missing(id), absent.body), where)
          assert.equal(await stateOf(client, tables), state, `${where} writes`)
        }
      }
      if (!plain || plain.method === 'DELETE') continue
      const answer = await send(plain)
      assert.ok(answer.status < 500, `${name}: ${JSON.stringify(answer.body)}`)
      assert.equal(JSON.stringify(answer.body ?? '').includes(MARKER), false, `${name} leaks`)
      if (plain.method === 'POST' && answer.status < 300) accepted.push(name)
    }
  })

  assert.deepEqual(
    await dump(url, tables, other.businessId),
    before,
    'the other business is unchanged',
  )
  // A refusal proves nothing if the request with own ids is refused too.
  assert.ok(accepted.length >= 25, `accepted with own ids: ${accepted.join(', ')}`)
  t.diagnostic(`${routes.length} routes, ${tried} foreign ids, ${accepted.length} POSTs accepted`)
})

test('an import line with another business’s id is refused like one with a missing id', async (t) => {
  const { url, tables, own, other } = await startTwoBusinesses(t)
  const before = await dump(url, tables, other.businessId)
  const linesWith = (idOf: (name: string) => number | string) =>
    OBJECT_KINDS.flatMap(({ kind, id, fields }) => {
      const names = Object.entries(fields).filter(([, field]) => field.refersTo)
      const references = Object.fromEntries(
        names.map(([name]) => [name, referenceOf(name, own.ids)]),
      )
      const line = { kind, ...exampleOf(fields), ...references }
      return [id, 'businessId', ...names.map(([name]) => name)].map((name) => ({
        ...line,
        [name]: name.endsWith('List') ? [idOf(name.slice(0, -4))] : idOf(name),
      }))
    })
  const send = (lines: object[]) =>
    own.call('POST', '/import', lines.map((line) => `${JSON.stringify(line)}\n`).join(''), {
      'content-type': 'application/x-ndjson',
    })
  const foreignLines = linesWith((name) => other.ids[name]!)
  const foreign = await send(foreignLines)
  const absent = await send(linesWith((name) => missing(other.ids[name]!)))
  assert.equal(foreign.status, 200)
  assert.equal(
    foreign.body.refusedCount,
    foreignLines.length,
    JSON.stringify(foreign.body.accepted),
  )
  const words = (body: unknown) =>
    JSON.stringify(body).replace(/[a-f0-9]{32}|z{32}|\d{7,}/g, '<id>')
  assert.equal(words(foreign.body), words(absent.body))
  assert.deepEqual(await dump(url, tables, other.businessId), before)
})

const referenceOf = (name: string, ids: Ids) =>
  name.endsWith('List') ? [ids[name.slice(0, -4)]] : ids[name]

/** A value for each required field that is not a reference. */
const exampleOf = (fields: Record<string, Field>) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => field.required && !field.refersTo)
      .map(([name, field]) => [name, field.instant ? momentOf(name) : 'Ours']),
  )

const momentOf = (name: string) => (name === 'endTime' ? 1_800_000_000_000 : 1_790_000_000_000)

/** The id that matches the parameter's name; if the name fits several kinds, all ids. */
function candidates({ name }: Position, ids: Ids): (number | string)[] {
  const known = ids[name.replace(/(List|s)$/, '')] ?? ids[name]
  if (known !== undefined) return [known]
  if (/UU?ID$/i.test(name)) return [ids.invitationUUID!]
  const numbers = Object.values(ids).filter((id) => typeof id === 'number')
  return /^(objectId|ids?)$/.test(name) ? numbers : numbers.slice(0, 1)
}

const without = (id: number | string, body: unknown): unknown =>
  JSON.parse(JSON.stringify(body ?? null).replaceAll(String(id), '<id>'))

/** A checksum that changes with every inserted, updated or deleted row of any business. */
async function stateOf(client: pg.Client, tables: Table[]) {
  const sums = tables.map(
    ({ name }) => `(select coalesce(sum(xmin::text::bigint), 0) || ':' || count(*) from ${name})`,
  )
  const text = `select concat_ws(' ', ${sums.join(', ')}) as state`
  const { rows } = await client.query({ name: 'state', text })
  return rows[0].state as string
}
