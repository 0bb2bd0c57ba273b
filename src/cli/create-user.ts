import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { readUser, saveUser } from '../auth/users.ts'
import { ROLES } from '../contract/credentials.ts'
import { brokenConstraint } from '../database/refusals.ts'
import { StartError } from '../errors.ts'
import { findNamedBusiness, wholeNumber } from './named-business.ts'
import { withDatabase } from './with-database.ts'

type Options = {
  business: number
  username: string
  role: string
  professional?: number
  locations?: string
  password?: string
  passwordFile?: string
}

export const command = new Command()
  .requiredOption('--business <businessId>', 'where the person works', wholeNumber)
  .requiredOption('--username <username>', 'unique in the installation')
  .option('--role <role>', `one of ${ROLES.join(', ')}`, 'OWNER')
  .option('--professional <professionalId>', 'whose appointments a USER sees', wholeNumber)
  .option('--locations <list>', 'locationIds of a LOCATION_SUPER_USER, separated by commas')
  .option('--password-file <file>', 'holds the password; - is the standard input')
  .option('--password <password>', 'seen by whoever lists processes: rather a file')
  .addHelpText('after', '\nWithout a password one is made and printed, this once.')
  .action((options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await findNamedBusiness(database, options.business)
      const given = readPassword(options)
      const password = given ?? randomBytes(15).toString('base64url')
      const input = await readUser({
        username: options.username,
        role: options.role,
        professionalId: options.professional,
        locationIdList: options.locations?.split(',').map(Number),
        password,
      })
      const saving = { businessId, user: 'OPERATOR', now, role: null }
      const db = database.forBusiness(businessId, saving.user)
      const { user } = await db.transaction((tx) => saveUser(tx, input, saving)).catch(sayTaken)
      console.error(`${user.username} is ${user.role} of business ${businessId}.`)
      if (given === undefined) console.log(password)
    }),
  )

function readPassword({ password, passwordFile }: Options) {
  if (passwordFile === undefined) return password
  try {
    const text = readFileSync(passwordFile === '-' ? 0 : passwordFile, 'utf8')
    return text.replace(/\r?\n[^]*$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError(`--password-file names ${passwordFile}, which cannot be read (${code}).`)
  }
}

function sayTaken(error: unknown): never {
  if (brokenConstraint(error) !== 'user_account_username') throw error
  throw new StartError('The username is taken. Choose another one.')
}
