import { readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** The version of the package, which is also that of the service. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
).version

/** How the names of our files end: `.ts` in the sources, `.js` in the compiled program. */
export const SUFFIX = extname(import.meta.filename)
