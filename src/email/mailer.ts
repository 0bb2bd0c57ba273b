import type { DkimSigner } from './dkim.ts'
import type { Message } from './message.ts'

/** One message to one recipient: a bad address never delays or repeats a good one. */
export type Outgoing = {
  /** Where bounces go. */
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
export type Phase =
  | 'connect'
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'body'
  | 'end'

/** The outcome of an attempt. `reply` is the server's reply, if there was one. */
export type Outcome =
  | { kind: 'sent'; phase: Phase; reply: string }
  | { kind: 'captured'; phase: Phase; reply: string }
  | { kind: 'retry'; phase: Phase; reply: string }
  | { kind: 'failed'; phase: Phase; reply: string }
  | { kind: 'uncertain'; phase: Phase; reply: string }

export type Mailer = {
  send(mail: Outgoing): Promise<Outcome>
  /** How many more mails it can begin soon: a worker should not claim more. */
  room(): number
  /** Finishes the mails that it has begun, then closes its connections. */
  close(): Promise<void>
}

const MAX_RETRIES = 10

/** 1, 4, 9, 16 … minutes after each attempt. Undefined: no more attempts. */
export const waitAfter = (attempts: number): Temporal.Duration | undefined =>
  attempts <= MAX_RETRIES ? Temporal.Duration.from({ minutes: attempts ** 2 }) : undefined
