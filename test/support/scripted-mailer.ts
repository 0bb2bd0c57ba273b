import type { Mailer, Outcome, Outgoing } from '../../src/email/mailer.ts'

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
    room: () => 10,
    close: async () => {},
  }
  return { mailer, taken }
}
