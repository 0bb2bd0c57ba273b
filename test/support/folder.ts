import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { cleanUpLater } from './clean-up.ts'

export function temporaryFolder(t: Pick<TestContext, 'after'>, mode = 0o755) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'bellwether-'))
  fs.chmodSync(folder, mode)
  cleanUpLater(t, () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}
