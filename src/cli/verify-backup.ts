import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Config } from '../config.ts'
import { restoreBackup } from '../database/backup.ts'
import { openEmbedded } from '../database/embedded.ts'
import { examine, lineOf } from './doctor.ts'
import { withProgress } from './progress.ts'

/** Restores a backup into a temporary server and runs doctor there. */
export async function verifyBackup(config: Config, file: string) {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'bellwether-verify-'))
  // The server may run as another user.
  fs.chmodSync(folder, 0o711)
  const dataDir = path.join(folder, 'data')
  const server = await openEmbedded(dataDir, 'command', { fsync: 'off' })
  try {
    const { time, rows } = await withProgress('Verifying', 'rows', (report) =>
      restoreBackup(server.url, file, report),
    )
    const findings = await examine(
      {
        ...config,
        databaseUrl: undefined,
        poolerUrl: undefined,
        replicaUrl: undefined,
        dataDir,
        smtpUrl: undefined,
      },
      undefined,
    )
    for (const finding of findings) console.log(lineOf(finding))
    const isBad = findings.some(({ state }) => state === 'bad')
    if (isBad) process.exitCode = 1
    console.log(
      `${isBad ? 'Not verified' : 'Verified'}: ${file} holds ${rows} rows of ${time}; they were restored into a temporary server.`,
    )
  } finally {
    await server.stop()
    fs.rmSync(folder, { recursive: true, force: true })
  }
}
