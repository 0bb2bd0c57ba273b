import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { migrate } from '../../src/database/migrate.ts'
import { inspectDatabase } from '../../src/database/inspect.ts'
import { createEmptyDatabase } from '../support/database.ts'

/** Two installations on one server, each with a login of its own, as docs/database.md creates them. */
test('the login of one installation cannot connect to the database of another', async (t) => {
  const admin = process.env.TEST_SERVER_URL!
  const [one, other] = [await createEmptyDatabase(t), await createEmptyDatabase(t)]
  const login = (url: string) => new URL(url).pathname.slice(1)
  const asLogin = (url: string, name: string) => {
    const address = new URL(url)
    address.username = name
    return address.href
  }
  t.after(async () => {
    for (const { url } of [one, other]) await run(admin, `drop role ${login(url)}`)
  })
  for (const { url } of [one, other]) {
    const name = login(url)
    await run(admin, `create role ${name} login createrole`)
    await run(admin, `alter database ${name} owner to ${name}`)
    // The first installation has created the roles; an administrator grants them to the second.
    await run(admin, `grant bellwether_app, bellwether_engine, bellwether_operator to ${name}`)
  }
  const [own, stranger] = [asLogin(one.url, login(one.url)), asLogin(one.url, login(other.url))]
  await run(stranger, 'select 1')

  await migrate(own)
  await assert.rejects(
    run(stranger, 'set role bellwether_engine'),
    /permission denied for database/,
  )
  assert.deepEqual((await inspectDatabase(own, [])).connectRights, {
    isOpen: false,
    canClose: true,
  })

  // A restored dump does not have this right: the next start revokes it again.
  await run(own, `grant connect on database ${login(one.url)} to public`)
  assert.equal((await inspectDatabase(own, [])).connectRights.isOpen, true)
  await migrate(own)
  await assert.rejects(run(stranger, 'select 1'), /permission denied for database/)
})

async function run(url: string, statement: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
