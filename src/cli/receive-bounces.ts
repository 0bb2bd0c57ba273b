import { Limiter } from '../auth/limits.ts'
import { findBouncedMail, receiveReport } from '../automation/bounces.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../config.ts'
import type { Database } from '../database/database.ts'
import { startBounceListener } from '../email/bounce-listener.ts'
import { envelopeDomainOf } from '../email/mail-route.ts'
import { bounceAddress, readBounceAddress, type BouncedMail } from '../email/verp.ts'
import { StartError } from '../errors.ts'
import { countBounceMessage } from '../http/routes/bounce-metrics.ts'
import { networkOf } from '../http/server/rate-limit.ts'
import type { Log } from '../log.ts'
import { WorkQueue } from '../work-queue.ts'

/** Without BOUNCE_LISTEN and BOUNCE_DOMAIN, bounces go to the mailbox of MAIL_FROM. */
export function bounceAddressesOf(config: Config, secret: string) {
  if (!config.bounceListen && !config.bounceDomain) return {}
  const domain = envelopeDomainOf(config)
  return { bounceAddress: (mail: BouncedMail) => bounceAddress(domain, secret, mail) }
}

/** Messages of one peer, or for the mails of one business. */
const RATE_LIMIT = { perSecond: 20, burst: 500 }
/**
 * A command takes 10 to 30 µs of the thread that answers requests. These limits allow 250 messages a
 * second from one mail server, also if it passes on forged ones.
 */
const COMMANDS_OF_PEER = { perSecond: 1_000, burst: 2_000 }
const COMMANDS_OF_ALL = { perSecond: 2_000, burst: 4_000 }
/** A few messages of each peer, although others have used up the limit of all. */
const COMMANDS_GUARANTEED = { perSecond: 20, burst: 100 }

type Receiving = { config: Config; database: Database; clock: Clock; log: Log; linkSeal: string }

/** Listens at BOUNCE_LISTEN, if it is set. */
export async function receiveBounces({ config, database, clock, log, linkSeal }: Receiving) {
  const { bounceListen } = config
  if (!bounceListen) return undefined
  const domain = envelopeDomainOf(config)
  const seal = { domain, secret: linkSeal }
  const limiter = new Limiter(RATE_LIMIT, clock)
  const commandsOfPeer = new Limiter(COMMANDS_OF_PEER, clock)
  const commandsOfAll = new Limiter(COMMANDS_OF_ALL, clock)
  const guaranteedCommands = new Limiter(COMMANDS_GUARANTEED, clock)
  // Forged addresses must be looked up too; they share the database connections with the requests.
  const lookups = new WorkQueue({ total: 2, perBusiness: 1 })
  const dbOf = (businessId: number) => database.forBusiness(businessId, 'SYSTEM')
  try {
    return await startBounceListener({
      ...bounceListen,
      domain,
      findMail: (address) =>
        lookups.run({ businessId: readBounceAddress(address, domain)?.businessId ?? 0 }, () =>
          findBouncedMail(dbOf, address, seal),
        ),
      peerOf: (ip) => networkOf({ ip }),
      isAllowed: (name) => limiter.take(name).allowed,
      isCommandAllowed: (peer) =>
        commandsOfPeer.take(peer).allowed &&
        (commandsOfAll.take('all').allowed || guaranteedCommands.take(peer).allowed),
      receive: async (raw, named, peer) => {
        const parts = { database, seal, now: () => clock.now() }
        const result = await receiveReport(parts, { raw, named, peer })
        countBounceMessage(result)
        log.info({ result, businessId: named?.businessId }, 'bounce message received')
        return result !== 'too early'
      },
      onError: (err) => log.warn({ err }, 'receiving a bounce failed'),
    })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const { host, port } = bounceListen
    throw new StartError(`BOUNCE_LISTEN cannot use port ${port} on ${host} (${code}).`)
  }
}
