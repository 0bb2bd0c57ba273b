import type { Mailer, Outcome, Outgoing } from '../../src/email/mailer.ts'

/** A mail server that answers as it is told, in turn, and then takes everything. */
export function scripted(...answers: Outcome[]) {
  const taken: Outgoing[] = []
  const mailer: Mailer = {
    async send(mail) {
      const outcome = answers.shift() ?? { kind: 'sent', phase: 'end', reply: '250 taken' }
      if (outcome.phase === 'end') await mail.onMessageEnded()
      if (outcome.kind === 'sent' || outcome.kind === 'uncertain') taken.push(mail)
      return outcome
    },
    room: () => 10,
    close: async () => {},
  }
  return { mailer, taken }
}
