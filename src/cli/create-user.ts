import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { readUser, saveUser } from '../auth/users.ts'
import { ROLES } from '../contract/roles.ts'
import { brokenConstraint } from '../database/postgres-errors.ts'
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
  .requiredOption('--business <businessId>', 'business of the person', wholeNumber)
  .requiredOption('--username <username>', 'unique in the installation')
  .option('--role <role>', `one of ${ROLES.join(', ')}`, 'OWNER')
  .option(
    '--professional <professionalId>',
    'member of staff whose appointments a USER sees',
    wholeNumber,
  )
  .option('--locations <list>', 'locations that a LOCATION_SUPER_USER sees, separated by commas')
  .option('--password-file <file>', 'file with the password; - is standard input')
  .option(
    '--password <password>',
    'password; other users of this machine can see it: prefer a file',
  )
  .addHelpText('after', '\nWithout a password, one is generated and printed. Store it now.')
  .action((options: Options) =>
    withDatabase(async ({ database, now }) => {
      const businessId = await findNamedBusiness(database, options.business)
      const given = readPassword(options)
      const password = given ?? randomBytes(15).toString('base64url')
      const body = {
        username: options.username,
        role: options.role,
        professionalId: options.professional,
        locationIdList: options.locations?.split(',').map(Number),
        password,
      }
      const input = await readUser(body, businessId)
      const saving = { businessId, user: 'OPERATOR', now, role: null }
      const db = database.forBusiness(businessId, saving.user)
      const { user } = await db
        .transaction((tx) => saveUser(tx, input, saving))
        .catch(explainTakenName)
      console.error(
        `Created ${user.username} with the role ${user.role} in business ${businessId}.`,
      )
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
    throw new StartError(`--password-file: ${passwordFile} cannot be read (${code}).`)
  }
}

function explainTakenName(error: unknown): never {
  if (brokenConstraint(error) !== 'user_account_username') throw error
  throw new StartError('The username is taken. Choose another one.')
}
