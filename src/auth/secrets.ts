import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits. The prefix identifies the kind of secret, also for secret scanners. */
export const makeSecret = (prefix: string) => prefix + randomBytes(32).toString('base64url')

/** The stored form. A plain hash is enough, because 256 random bits cannot be guessed. */
export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

export const isSameDigest = (a: Buffer, b: Buffer) => timingSafeEqual(a, b)
