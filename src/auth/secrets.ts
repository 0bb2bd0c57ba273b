import { hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits; the prefix tells people, and scanners of leaked text, what they hold. */
export const makeSecret = (prefix: string) => prefix + randomBytes(32).toString('base64url')

/** What is kept. Of 256 random bits a plain hash is enough: there is nothing to guess. */
export const digest = (secret: string): Buffer => hash('sha256', secret, 'buffer')

export const isSameDigest = (a: Buffer, b: Buffer) => timingSafeEqual(a, b)
