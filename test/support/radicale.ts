import { spawn } from 'node:child_process'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from './folder.ts'
import { freePort } from './pgbouncer.ts'
import { until } from './until.ts'

/** A CalDAV server with calendars of the user `salon`, whose password it does not check. */
export async function startRadicale(t: TestContext, program: string) {
  const folder = path.join(temporaryFolder(t), 'collections')
  const port = await freePort()
  const settings = `--server-hosts 127.0.0.1:${port} --auth-type none --logging-level error`
  const words = ['--config', '', '--storage-filesystem-folder', folder, ...settings.split(' ')]
  const child = spawn(program, words, { stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}/`
  const send = (method: string, place: string, body?: string) =>
    fetch(new URL(place, url), {
      method,
      headers: { authorization: `Basic ${btoa('salon:x')}`, 'content-type': 'text/calendar' },
      ...(body !== undefined && { body }),
    })
  await until(() =>
    send('GET', '/.web').then(
      () => true,
      () => false,
    ),
  )
  return { url, folder, send }
}
