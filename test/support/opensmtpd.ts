import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from './folder.ts'
import { installForTests } from './install.ts'
import { until } from './until.ts'

const SMTPD = '/usr/sbin/smtpd'

/** Debian's own mail server on loopback, which stores every mail in a folder. For the full proof. */
export async function startOpenSmtpd(t: TestContext) {
  if (!existsSync(SMTPD)) {
    const isInstalled = installForTests({
      missing: "a mail server, Debian's package opensmtpd, for the full proof of mails",
      command: 'apt-get install -y --no-install-recommends opensmtpd',
      instead: 'Install opensmtpd (Debian, as root) to run this proof.',
    })
    assert.ok(isInstalled, `${SMTPD} is missing`)
  }
  const folder = temporaryFolder(t)
  chmodSync(folder, 0o755)
  const mail = path.join(folder, 'mail')
  mkdirSync(mail)
  const nobody = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' }))
  chownSync(mail, nobody, nobody)
  const port = await freePort()
  const settings = path.join(folder, 'smtpd.conf')
  writeFileSync(
    settings,
    `table everyone { "@" = "nobody" }
listen on 127.0.0.1 port ${port}
action "keep" maildir "${mail}/box" virtual <everyone>
match from any for any action "keep"
`,
    { mode: 0o600 },
  )
  const server = spawn(SMTPD, ['-d', '-f', settings], { stdio: ['ignore', 'pipe', 'pipe'] })
  let log = ''
  for (const output of [server.stdout, server.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => (log += text))
  }
  t.after(async () => {
    server.kill()
    if (server.exitCode === null) await once(server, 'exit')
  })
  await until(() => log.includes('starting'))
  const box = path.join(mail, 'box', 'new')
  const listFiles = () => (existsSync(box) ? readdirSync(box) : [])
  return {
    port,
    /** The number of messages that it accepted. */
    accepted: () => log.match(/ smtp message msgid=/g)?.length ?? 0,
    /** The messages in the folder, without the headers that the server added. */
    arrived: async () => {
      await until(() => listFiles().length >= (log.match(/ smtp message msgid=/g)?.length ?? 0))
      return listFiles().map((file) => {
        const text = readFileSync(path.join(box, file), 'latin1')
        return text.slice(text.indexOf('\nFrom: ') + 1)
      })
    },
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
