import { openEmbedded } from '../../src/database/embedded.ts'
import { StartError } from '../../src/errors.ts'

// A process that holds the embedded database: node open-embedded.ts DATA_DIR service|command
const [dataDir, purpose] = process.argv.slice(2)
try {
  const embedded = await openEmbedded(dataDir!, purpose as 'service' | 'command')
  process.once('SIGTERM', () => void embedded.stop())
  console.log(embedded.url)
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 2
}
