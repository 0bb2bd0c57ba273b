import { Command } from 'commander'
import { BUSINESS_FIELDS } from '../contract/business.ts'
import { readFields } from '../contract/read-fields.ts'
import { invalid } from '../errors.ts'
import { insertBusiness, type BusinessFields } from '../store/businesses.ts'
import { withDatabase } from './with-database.ts'

export const command = new Command()
  .requiredOption('--name <name>', 'what it is called')
  .requiredOption('--time-zone <zone>', 'where it is, such as Europe/Zurich')
  .option('--email-address <address>', 'where clients reach it')
  .option('--phone <number>', 'where clients call it')
  .option('--language <tag>', 'such as de-CH')
  .option('--external-id <id>', 'its id in another system')
  .option(
    '--sender-domains <list>',
    'from which it may send, separated by commas; none unless given',
    (list: string) => list.split(',').map((domain) => domain.trim()),
  )
  .addHelpText('after', '\nPrints the new businessId.')
  .action((options: object) =>
    withDatabase(async ({ database, now }) => {
      const { values, faults } = readFields<BusinessFields>(BUSINESS_FIELDS, options)
      if (faults.length > 0) throw invalid(faults)
      const business = await insertBusiness(database.operator, values, { user: 'OPERATOR', now })
      console.error(
        `The business ${business.name} is made. Next: bellwether create-user, create-key.`,
      )
      console.log(business.businessId)
    }),
  )
