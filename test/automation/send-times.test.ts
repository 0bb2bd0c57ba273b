import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SendTimes, type SendTime } from '../../src/automation/send-times.ts'

const message = (time: string, more: Partial<SendTime> = {}): SendTime => ({
  time: Temporal.Instant.from(time),
  timeZone: 'UTC',
  readerTimeZone: 'UTC',
  reader: null,
  ...more,
})

function count(messages: SendTime[]) {
  const times = new SendTimes()
  for (const one of messages) times.add(one)
  return { ...times.result(), warnings: messages.map((one) => times.warningsOf(one)) }
}

test('it is night from 21:00 until 8:00 where the reader is', () => {
  const { atNight, byHour, warnings } = count([
    message('2026-03-02T07:59:59Z'),
    message('2026-03-02T08:00:00Z'),
    message('2026-03-02T20:59:59Z'),
    message('2026-03-02T21:00:00Z'),
    message('2026-03-02T12:00:00Z', { readerTimeZone: 'Pacific/Auckland' }),
  ])
  assert.equal(atNight, 3)
  assert.deepEqual(warnings, [['it is night'], [], [], ['it is night'], ['it is night']])
  const hours = byHour.flatMap((times, hour) => Array<number>(times).fill(hour))
  assert.deepEqual(hours, [7, 8, 12, 20, 21], 'days and hours are those of the location')
})

test('a message is close if the same reader gets another one less than an hour earlier, or at the same time', () => {
  const close = 'less than an hour after another one'
  const { withinAnHour, byDay, warnings } = count([
    message('2026-03-02T09:00:00Z', { reader: 1 }),
    message('2026-03-02T09:59:59.999Z', { reader: 1 }),
    message('2026-03-02T10:59:59.999Z', { reader: 1 }),
    message('2026-03-03T09:00:00Z', { reader: 2 }),
    message('2026-03-03T09:00:00Z', { reader: 2 }),
    message('2026-03-03T09:10:00Z', { reader: 3 }),
    message('2026-03-03T09:10:00Z'),
    message('2026-03-03T09:10:00Z'),
  ])
  assert.equal(withinAnHour, 2)
  assert.deepEqual(warnings, [[], [close], [], [close], [close], [], [], []])
  assert.deepEqual(byDay, [
    { day: '2026-03-02', count: 3 },
    { day: '2026-03-03', count: 5 },
  ])
})
