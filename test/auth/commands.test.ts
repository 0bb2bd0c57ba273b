import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApp } from '../support/app.ts'
import { ask, signInAs } from '../support/callers.ts'
import { runCommand } from '../support/command.ts'
import { cloneDatabase } from '../support/database.ts'

test('a business, its first person and a key are made from the command line, and work', async (t) => {
  const { url, database } = await cloneDatabase(t)
  const env = { DATABASE_URL: url }
  const create = ['create-business', '--name', 'Nord', '--time-zone', 'Europe/Oslo']
  const domains = ['--sender-domains', 'nord.example, Mail.example']
  const business = await runCommand([...create, ...domains], env)
  assert.deepEqual([business.code, business.stdout], [0, '1\n'], business.stderr)

  const key = await runCommand(['create-key', '--business', '1', '--name', 'site'], env)
  assert.match(key.stdout, /^bw_[\w-]{43}\n$/)
  const person = ['create-user', '--business', '1', '--username', 'anna']
  const made = await runCommand(person, env)
  assert.equal(made.code, 0, made.stderr)
  const again = await runCommand(person, env)
  assert.deepEqual([again.code, again.stderr], [2, 'The username is taken. Choose another one.\n'])

  const { app } = await startApp(t, { database })
  const call = ask(app, { authorization: `Bearer ${key.stdout.trim()}` })
  const { name, senderDomains } = (await call('GET', '/business/1')).body
  assert.deepEqual([name, senderDomains], ['Nord', ['nord.example', 'mail.example']])
  const anna = ask(app, { cookie: await signInAs(app, 'anna', made.stdout.trim()) })
  assert.equal((await anna('GET', '/session')).body.role, 'OWNER')
})

test('bad input of a command is one clear line and exit 2', async (t) => {
  const { url } = await cloneDatabase(t)
  const tries: [string[], RegExp][] = [
    [['create-business', '--name', 'Nord'], /--time-zone/],
    [
      ['create-business', '--name', 'Nord', '--time-zone', 'Mars'],
      /^--time-zone must be an IANA time zone/,
    ],
    [
      [...'create-business --name Nord --time-zone UTC --sender-domains'.split(' '), 'a@b'],
      /^--sender-domains.* must be a domain name/,
    ],
    [['create-key', '--business', '7', '--name', 'x'], /^There is no business 7\.\n$/],
    [['create-key', '--business', 'x', '--name', 'x'], /whole number/],
    [
      ['create-user', '--business', '7', '--username', 'a', '--password-file', '/none'],
      /^There is no business 7\.\n$/,
    ],
  ]
  for (const [words, line] of tries) {
    const { code, stderr } = await runCommand(words, { DATABASE_URL: url })
    assert.equal(code, 2, words.join(' '))
    assert.match(stderr, line)
    assert.equal(stderr.trim().split('\n').length, 1)
  }
})

test('create-key sets the given scopes and expiry', async (t) => {
  const { url } = await cloneDatabase(t)
  const env = { DATABASE_URL: url }
  await runCommand(['create-business', '--name', 'Nord', '--time-zone', 'UTC'], env)
  const words = ['create-key', '--business', '1', '--name', 'x', '--scopes']
  const scoped = await runCommand([...words, 'mail:read, admin'], env)
  assert.equal(scoped.code, 0, scoped.stderr)
  const unknown = await runCommand([...words, 'everything'], env)
  assert.match(unknown.stderr, /^--scopes\/0 must be one of definitions:read, /)
  const past = await runCommand([...words, 'admin', '--expires', '2020-01-01T00:00:00Z'], env)
  assert.deepEqual([past.code, past.stderr.startsWith('--expires must be a time')], [2, true])
})

test('a lost operator’s key is replaced by a command, and running nodes refuse the old one', async (t) => {
  const { url, database } = await cloneDatabase(t)
  const { app, clock } = await startApp(t, { database })
  const statusWith = async (key: string) =>
    (await ask(app, { authorization: `Bearer ${key}` })('GET', '/business')).status
  const keys: string[] = []
  for (const _ of ['of an installation without a key', 'instead of the first']) {
    const { code, stdout, stderr } = await runCommand(['create-operator-key'], {
      DATABASE_URL: url,
    })
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^bwo_[\w-]{43}\n$/)
    keys.push(stdout.trim())
    clock.advance({ milliseconds: 500 })
    assert.equal(await statusWith(keys.at(-1)!), 200)
  }
  assert.equal(await statusWith(keys[0]!), 401)

  const given = { DATABASE_URL: url, ADMIN_API_KEY: 'operator-key-of-this-test' }
  const refused = await runCommand(['create-operator-key'], given)
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /^ADMIN_API_KEY is set[^\n]*\n$/)
  assert.equal(await statusWith(keys[1]!), 200, 'the stored key is unchanged')
})
