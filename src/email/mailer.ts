import { reasonText } from '../contract/reasons.ts'
import type { DkimSigner } from './dkim.ts'
import type { Message } from './message.ts'

/** One message to one recipient: a bad address never delays or repeats a good one. */
export type Outgoing = {
  /** A business whose mails get no answer leaves room for the others. */
  businessId: number
  from: string
  to: string
  message: Message
  /** Signs with these keys, in addition to those of the mailer. */
  signers?: DkimSigner[]
  /**
   * Called when all bytes except the end of the message are sent. The end is sent after it resolves.
   * So the caller can commit here: before this commit the server cannot have accepted the mail. If it
   * throws, the message is never ended.
   */
  beforeMessageEnd: () => Promise<void>
}

/** The phase of the SMTP dialogue. `end` is the only phase in which an answer can be lost. */
export type Phase = (typeof PHASES)[number]

export const PHASES = [
  'connect',
  'greeting',
  'ehlo',
  'starttls',
  'auth',
  'mail',
  'rcpt',
  'data',
  'body',
  'end',
] as const

/**
 * The outcome of an attempt. `reply` is the server's reply, if there was one. `unavailable`: the server
 * takes no mail at all, so this does not count as an attempt.
 */
export type Outcome =
  | { kind: 'sent'; phase: Phase; reply: string }
  | { kind: 'captured'; phase: Phase; reply: string }
  | { kind: 'retry'; phase: Phase; reply: string }
  | { kind: 'failed'; phase: Phase; reply: string }
  | { kind: 'uncertain'; phase: Phase; reply: string }
  | Unavailable
  | Postponed

/** Why the mail server takes no mail: it cannot be reached, or it refuses this installation. */
export type Unavailable = { kind: 'unavailable'; phase: Phase; reply: string }

/**
 * The mail was not attempted: its recipient domain gets no mails for a while, or it cannot be signed,
 * which only the operator can fix.
 */
export type Postponed = {
  kind: 'postponed'
  phase: Phase
  reply: string
  waitMs: number
  isUnsigned?: true
}

/** A mail whose DKIM key cannot sign waits: receivers would refuse it without a signature. */
export const unsigned = (error: unknown): Postponed => ({
  kind: 'postponed',
  phase: 'connect',
  reply: `${reasonText('cannotSign')}: ${error instanceof Error ? error.message : String(error)}`,
  waitMs: 60_000,
  isUnsigned: true,
})

/** A recipient domain that gets fewer mails at a time than usual, because it deferred some. */
export type ThrottledProvider = { provider: string; concurrent: number; maxConcurrent: number }

export type Mailer = {
  /** Host and port of the mail server; null: mails are captured. */
  readonly server: string | null
  send(mail: Outgoing): Promise<Outcome>
  /** How many more mails it can begin soon: a worker should not claim more. */
  room(): number
  /** Whether this business has so many mails without an answer that others must come first. */
  isFull(businessId: number): boolean
  /**
   * Opens a connection and signs in, and names this envelope sender if there is one, but sends no mail.
   * Undefined: the server accepts mails.
   */
  check(from?: string): Promise<Unavailable | undefined>
  throttledProviders(): ThrottledProvider[]
  /** Finishes the mails that it has begun, then closes its connections. */
  close(): Promise<void>
}

const MAX_WAIT_MINUTES = 30

/** 1, 4, 9, 16 … minutes after each attempt, at most 30. */
export const waitAfter = (attempts: number): Temporal.Duration =>
  Temporal.Duration.from({ minutes: Math.min(attempts ** 2, MAX_WAIT_MINUTES) })
