import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupAnswers } from '../../console/mail/answers.ts'

const mail = (to: string, status: 'FAILED' | 'RETRYING', time: number, ...replies: string[]) => ({
  to,
  status,
  statusReason: null,
  createdDate: time,
  attempts: replies.map((reply, i) => ({ time: time + i, phase: 'recipient', reply })),
})

test('answers with the same codes and meaning are one group, whatever address they name', () => {
  const groups = groupAnswers([
    mail('b@x.example', 'FAILED', 30, '550 5.1.1 <b@x.example>: no such user'),
    mail('a@x.example', 'FAILED', 20, '450 4.2.0 Greylisted', '550 5.1.1 <a@x.example>: unknown'),
    mail('A@x.example', 'FAILED', 10, '550 5.1.1 <a@x.example>: unknown'),
    mail('c@x.example', 'FAILED', 40, '550 5.7.1 blocked'),
  ])
  assert.deepEqual(
    groups.map(({ attempt, mails, addresses, lastTime }) => [
      attempt.reply,
      mails,
      addresses,
      lastTime,
    ]),
    [
      ['550 5.1.1 <b@x.example>: no such user', 3, 2, 30],
      ['550 5.7.1 blocked', 1, 1, 40],
    ],
  )
})

test('the same answer is another group if the mail is still retried', () => {
  const reply = '451 4.3.0 busy'
  const groups = groupAnswers([
    mail('a@x.example', 'RETRYING', 10, reply),
    mail('b@x.example', 'FAILED', 20, reply),
  ])
  assert.deepEqual(
    groups.map(({ status }) => status),
    ['FAILED', 'RETRYING'],
  )
})

test('a mail without an attempt is grouped by its reason', () => {
  const reason = 'the mail server took no mail while this one was still useful'
  const [group] = groupAnswers([{ ...mail('a@x.example', 'FAILED', 10), statusReason: reason }])
  assert.equal(group?.attempt.reply, reason)
  assert.equal(group?.lastTime, 10)
})
