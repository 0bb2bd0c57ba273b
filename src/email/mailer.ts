import type { Message } from './message.ts'

/** One message to one recipient: a bad address never delays or repeats a good one. */
export type Outgoing = {
  /** Where bounces go. */
  from: string
  to: string
  message: Message
  /**
   * Called when every byte but the end of the message has left. Only when it resolves is the end
   * sent, so that whoever commits here knows afterwards: before this commit the mail was not
   * accepted, after it only the server knows. When it throws, the message is never ended.
   */
  onMessageEnded: () => Promise<void>
}

/** How far the conversation had come. `end` is the one phase in which an answer can be lost. */
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

/** How an attempt ended. `reply` is in the server's own words wherever it said any. */
export type Outcome =
  | { kind: 'sent'; phase: Phase; reply: string }
  | { kind: 'captured'; phase: Phase; reply: string }
  | { kind: 'retry'; phase: Phase; reply: string }
  | { kind: 'failed'; phase: Phase; reply: string }
  | { kind: 'uncertain'; phase: Phase; reply: string }

export type Mailer = {
  send(mail: Outgoing): Promise<Outcome>
  /** How many more mails it would begin soon. Who claims no more keeps nothing waiting in vain. */
  room(): number
  /** Finishes what is under way and says goodbye to the server. */
  close(): Promise<void>
}

const MOST_RETRIES = 10

/** 1, 4, 9, 16 … minutes after each attempt: most refusals pass within the hour. Undefined: enough. */
export const waitAfter = (attempts: number): Temporal.Duration | undefined =>
  attempts <= MOST_RETRIES ? Temporal.Duration.from({ minutes: attempts ** 2 }) : undefined
