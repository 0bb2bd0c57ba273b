import type { Mailer, Outcome, Outgoing } from '../../src/email/mailer.ts'

/** What a mailer needs in addition to `send`; its server can always be reached. */
export const mailerParts: Omit<Mailer, 'send'> = {
  server: 'mail.test:25',
  room: () => 10,
  isFull: () => false,
  check: async () => undefined,
  throttledProviders: () => [],
  close: async () => {},
}

/** A mailer that returns these outcomes in turn, and then accepts every mail. */
export function scripted(...answers: Outcome[]) {
  const taken: Outgoing[] = []
  const mailer: Mailer = {
    async send(mail) {
      const outcome = answers.shift() ?? { kind: 'sent', phase: 'end', reply: '250 taken' }
      if (outcome.phase === 'end') await mail.beforeMessageEnd()
      if (outcome.kind === 'sent' || outcome.kind === 'uncertain') taken.push(mail)
      return outcome
    },
    ...mailerParts,
  }
  return { mailer, taken }
}
