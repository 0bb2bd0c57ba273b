import { Command } from 'commander'
import { BUSINESS_BODY } from '../contract/business.ts'
import { readFields } from '../contract/read-fields.ts'
import { invalid } from '../errors.ts'
import { insertBusiness, type BusinessFields } from '../store/businesses.ts'
import { withDatabase } from './with-database.ts'

export const command = new Command()
  .requiredOption('--name <name>', 'name of the business')
  .requiredOption('--time-zone <zone>', 'time zone, such as Europe/Zurich')
  .option('--email-address <address>', 'email address for clients')
  .option('--phone <number>', 'phone number for clients')
  .option('--language <tag>', 'language, such as de-CH')
  .option('--external-id <id>', 'id in another system')
  .option(
    '--sender-domains <list>',
    'domains from which it may send email, separated by commas (default: none)',
    (list: string) => list.split(',').map((domain) => domain.trim()),
  )
  .addHelpText('after', '\nPrints the new businessId.')
  .action((options: object) =>
    withDatabase(async ({ database, now }) => {
      const { values, faults } = readFields<BusinessFields>(BUSINESS_BODY, options)
      if (faults.length > 0) throw invalid(faults)
      const business = await insertBusiness(database.operator, values, { user: 'OPERATOR', now })
      console.error(
        `Created the business ${business.name}. Next: bellwether create-user, create-key.`,
      )
      console.log(business.businessId)
    }),
  )
