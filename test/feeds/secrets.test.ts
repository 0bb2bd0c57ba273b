import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { openSecrets } from '../../src/feeds/secrets.ts'
import { temporaryFolder } from '../support/folder.ts'

const place = { businessId: 1, feedId: 2, field: 'secret' }
const shared = (...secretKeys: Buffer[]) =>
  openSecrets({ secretKeys, databaseUrl: 'postgres://db', dataDir: '/nowhere' })

test('a secret is read again with its key, and its text is not in what is stored', () => {
  const { encrypt, decrypt } = shared(randomBytes(32))
  const sealed = encrypt(place, 'pässword')
  assert.equal(decrypt(place, sealed), 'pässword')
  assert.equal(sealed.includes('ssword'), false)
  assert.notDeepEqual(encrypt(place, 'pässword'), sealed)
})

test('a secret cannot be read in another place, changed, cut, or with another key', () => {
  const { encrypt, decrypt } = shared(randomBytes(32))
  const sealed = encrypt(place, 'password')
  assert.equal(decrypt({ ...place, businessId: 3 }, sealed), undefined)
  assert.equal(decrypt({ ...place, feedId: 3 }, sealed), undefined)
  assert.equal(decrypt({ ...place, field: 'hookSecret' }, sealed), undefined)
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed)
    changed[at]! ^= 1
    assert.equal(decrypt(place, changed), undefined, `byte ${at}`)
    assert.equal(decrypt(place, sealed.subarray(0, at)), undefined, `cut to ${at} bytes`)
  }
  assert.equal(shared(randomBytes(32)).decrypt(place, sealed), undefined)
})

test('of several keys the first encrypts and all decrypt, so that a key can be replaced', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)]
  const before = shared(older).encrypt(place, 'password')
  const { encrypt, decrypt } = shared(newer, older)
  assert.equal(decrypt(place, before), 'password')
  assert.equal(shared(newer).decrypt(place, encrypt(place, 'password')), 'password')
})

test('with DATABASE_URL and without SECRET_KEY, a secret is not stored', () => {
  assert.throws(() => shared().encrypt(place, 'password'), {
    status: 409,
    code: 'secret-key-missing',
  })
  assert.equal(shared().decrypt(place, shared(randomBytes(32)).encrypt(place, 'x')), undefined)
})

test('with the embedded database the key is made once, for its owner only', (t) => {
  const dataDir = path.join(temporaryFolder(t), 'data')
  const embedded = { secretKeys: [], databaseUrl: undefined, dataDir }
  const file = path.join(dataDir, 'secret-key')
  assert.equal(openSecrets(embedded).decrypt(place, Buffer.alloc(40)), undefined)
  assert.equal(fs.existsSync(file), false)

  const sealed = openSecrets(embedded).encrypt(place, 'password')
  assert.equal(fs.statSync(file).mode & 0o777, 0o600)
  const content = fs.readFileSync(file, 'utf8')
  const again = openSecrets(embedded).encrypt(place, 'password')
  assert.equal(fs.readFileSync(file, 'utf8'), content)
  assert.deepEqual(fs.readdirSync(dataDir), ['secret-key'])
  for (const one of [sealed, again])
    assert.equal(openSecrets(embedded).decrypt(place, one), 'password')

  fs.rmSync(file)
  assert.equal(openSecrets(embedded).decrypt(place, sealed), undefined)
})
