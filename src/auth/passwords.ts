import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { RequestError } from '../errors.ts'

/** About 70 ms and 32 MiB per hash on a small machine, above the minimum of OWASP. */
const COST = { memory: 32_768, passes: 2, parallelism: 1, tagLength: 32 }

/** argon2id as a PHC string, which contains its cost parameters. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const tag = await limitHashing(() => derive(password, nonce, COST))
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(tag)}`
}

/**
 * `stored` is undefined if there is no such person. That takes as long as a wrong password, so that the
 * response time does not reveal whether an account exists.
 */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const { cost, nonce, tag } = parse(stored ?? DUMMY_HASH)
  const derived = await limitHashing(() => derive(password, nonce, cost))
  return timingSafeEqual(derived, tag) && stored !== undefined
}

const deriveAsync = promisify(argon2)

const derive = (password: string, nonce: Buffer, cost: typeof COST) =>
  deriveAsync('argon2id', { message: password.normalize('NFKC'), nonce, ...cost })

const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

const DUMMY_HASH = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=1$${text(Buffer.alloc(16))}$${text(Buffer.alloc(32))}`

function parse(stored: string) {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored)
  if (!match) throw new Error('a stored password hash is not an argon2id string')
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number]
  const tag = Buffer.from(match[5]!, 'base64')
  const cost = { memory, passes, parallelism, tagLength: tag.length }
  return { cost, nonce: Buffer.from(match[4]!, 'base64'), tag }
}

/** Hashing uses at most two of the four libuv threads, which also read files and resolve host names. */
const MAX_RUNNING = 2
const MAX_WAITING = 200
let running = 0
const waiting: (() => void)[] = []

async function limitHashing<T>(work: () => Promise<T>): Promise<T> {
  if (running >= MAX_RUNNING) {
    if (waiting.length >= MAX_WAITING) {
      throw new RequestError(
        503,
        'Too many people are signing in. Try again in a few seconds.',
        undefined,
        {
          'retry-after': '5',
        },
      )
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else {
    running += 1
  }
  try {
    return await work()
  } finally {
    // The slot goes to the next waiting call.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}
