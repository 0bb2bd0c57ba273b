import { readConfig, type Environment } from '../../src/config.ts'
import { buildApp } from '../../src/http/server/app.ts'
import type { Services } from '../../src/http/server/services.ts'
import { openLog } from '../../src/log.ts'
import { SettingsCache } from '../../src/store/settings.ts'
import { cleanUpLater, type Lifetime } from './clean-up.ts'
import { manualClock } from './clock.ts'
import { cloneDatabase } from './database.ts'

type Given = Partial<Services> & { env?: Environment }

/** The app with its own database, a manual clock and a log that the test can read. */
export async function startApp(t: Lifetime, { env = {}, ...given }: Given = {}) {
  const logged: string[] = []
  const log = openLog('debug', { write: (line: string) => void logged.push(line) })
  const clock = manualClock()
  const database = given.database ?? (await cloneDatabase(t)).database
  const settings = new SettingsCache()
  const app = await buildApp({
    config: readConfig(env),
    database,
    settings,
    clock,
    log,
    linkSeal: 'test',
    checkAnswers: true,
    ...given,
  })
  // Registered last, so that the app closes before its database.
  cleanUpLater(t, () => app.close())
  return { app, clock, database, logged, settings }
}

/** A database for tests that read no rows. */
export const noDatabase = {
  checkWritable: async () => {},
  readTime: async () => 0,
} as Services['database']
