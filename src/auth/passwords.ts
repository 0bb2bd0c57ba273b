import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { WorkQueue, type WaitingCaller } from '../work-queue.ts'

/**
 * Memory and passes are one of the settings that OWASP recommends as equally strong: 36 ms of a core. Four
 * lanes, as RFC 9106 recommends, are filled by four threads: next to other work this takes a third of the time.
 */
const COST = { memory: 7_168, passes: 5, parallelism: 4, tagLength: 32 }

/** argon2id as a PHC string, which contains its cost parameters. */
export async function hashPassword(password: string, caller: WaitingCaller): Promise<string> {
  const nonce = randomBytes(16)
  const tag = await hashing.run(caller, () => derive(password, nonce, COST))
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(tag)}`
}

/**
 * `stored` is undefined if there is no such person. That takes as long as a wrong password, so that the
 * response time does not reveal whether an account exists.
 */
export async function isPassword(
  password: string,
  stored: string | undefined,
  caller: WaitingCaller,
): Promise<boolean> {
  const { cost, nonce, tag } = parse(stored ?? NO_PASSWORD)
  const derived = await hashing.run(caller, () => derive(password, nonce, cost))
  return timingSafeEqual(derived, tag) && stored !== undefined
}

/** Whether a stored hash takes longer than new ones: the time of a sign-in would show that it exists. */
export const isOutdated = (stored: string) => durationOf(parse(stored).cost) > durationOf(COST)

/** In proportion. */
const durationOf = ({ memory, passes, parallelism }: typeof COST) => (memory * passes) / parallelism

const deriveAsync = promisify(argon2)

const derive = (password: string, nonce: Buffer, cost: typeof COST) =>
  deriveAsync('argon2id', { message: password.normalize('NFKC'), nonce, ...cost })

const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

/** The hash of no password: for people who have not chosen one yet. */
export const NO_PASSWORD = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${text(Buffer.alloc(16))}$${text(Buffer.alloc(32))}`

function parse(stored: string) {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored)
  if (!match) throw new Error('a stored password hash is not an argon2id string')
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number]
  const tag = Buffer.from(match[5]!, 'base64')
  const cost = { memory, passes, parallelism, tagLength: tag.length }
  return { cost, nonce: Buffer.from(match[4]!, 'base64'), tag }
}

/**
 * Hashing uses at most two of the four libuv threads, which also read files and resolve host names. A
 * business or an address uses one, so that another one's sign-in finds the other free.
 */
const hashing = new WorkQueue({
  perBusiness: 1,
  total: 2,
  maxWaiting: 200,
  maxWaitSeconds: 30,
})
