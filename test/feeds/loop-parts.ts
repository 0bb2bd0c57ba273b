import { randomBytes } from 'node:crypto'
import type { Clock } from '../../src/clock.ts'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/database/database.ts'
import { openSourceAccess } from '../../src/feeds/source-access.ts'
import type { SettingsCache } from '../../src/store/settings.ts'

/** The settings of worlds whose feeds are pulled. */
export const PULLING = {
  SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
  FEED_PRIVATE_HOSTS: '127.0.0.1',
}

type World = { database: Database; settings: SettingsCache; clock: Pick<Clock, 'now'> }

/** What the loops of feeds need; an error of theirs is thrown. */
export const partsOf = ({ database, settings, clock }: World) => ({
  database,
  settings,
  access: openSourceAccess(readConfig(PULLING)),
  now: () => clock.now(),
  random: (size: number): Buffer => randomBytes(size),
  leaseSeconds: 30,
  mailFrom: { name: 'Bellwether', address: 'bw@bw.example' },
  host: 'bw.example',
  onError: (error: unknown): void => {
    throw error
  },
})
