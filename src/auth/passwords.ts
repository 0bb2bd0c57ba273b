import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { RequestError } from '../errors.ts'

/** About 70 ms and 32 MiB each on a small machine; what OWASP asks for, and a step more. */
const COST = { memory: 32_768, passes: 2, parallelism: 1, tagLength: 32 }

/** argon2id, written as a PHC string that carries its own cost. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const tag = await inTurn(() => derive(password, nonce, COST))
  const { memory, passes, parallelism } = COST
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${text(nonce)}$${text(tag)}`
}

/**
 * Without a hash there is no such person. That takes as long as a wrong password, so that nobody
 * learns from the clock who has an account.
 */
export async function isPassword(password: string, kept: string | undefined): Promise<boolean> {
  const { cost, nonce, tag } = parse(kept ?? NOBODY)
  const derived = await inTurn(() => derive(password, nonce, cost))
  return timingSafeEqual(derived, tag) && kept !== undefined
}

const deriveAsync = promisify(argon2)

const derive = (password: string, nonce: Buffer, cost: typeof COST) =>
  deriveAsync('argon2id', { message: password.normalize('NFKC'), nonce, ...cost })

const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')

const NOBODY = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=1$${text(Buffer.alloc(16))}$${text(Buffer.alloc(32))}`

function parse(kept: string) {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(kept)
  if (!match) throw new Error('a kept password is not an argon2id string')
  const [memory, passes, parallelism] = match.slice(1, 4).map(Number) as [number, number, number]
  const tag = Buffer.from(match[5]!, 'base64')
  const cost = { memory, passes, parallelism, tagLength: tag.length }
  return { cost, nonce: Buffer.from(match[4]!, 'base64'), tag }
}

/** Hashing runs on the four threads that also read files and look up names: half of them at most. */
const AT_ONCE = 2
const MOST_WAITING = 200
let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) {
    if (waiting.length >= MOST_WAITING) {
      throw new RequestError(503, 'Too many people are signing in; try again.', undefined, {
        'retry-after': '5',
      })
    }
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else {
    running += 1
  }
  try {
    return await work()
  } finally {
    // The place goes straight to the next in line.
    const next = waiting.shift()
    if (next) next()
    else running -= 1
  }
}
