import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readAuditSearch } from '../../console/audit/search.ts'
import { readCalendarSearch } from '../../console/calendar/search.ts'
import { readActivitySearch } from '../../console/messages/search.ts'
import { daysOf, readReportSearch } from '../../console/reports/search.ts'

test('parameters of an address that are not valid are left out', () => {
  const valid = { day: '2028-02-29', view: 'week', location: 3, appointment: 17, book: true }
  assert.deepEqual(readCalendarSearch(valid), valid)
  assert.deepEqual(
    readCalendarSearch({
      day: '2027-02-29',
      view: 'month',
      location: 'x',
      appointment: -1,
      book: 'no',
      client: 1.5,
      other: 1,
    }),
    {},
  )
  assert.deepEqual(readCalendarSearch({ day: '', client: '12', book: 'true' }), {
    client: 12,
    book: true,
  })
})

test('digits stay text where a parameter is text', () => {
  assert.deepEqual(readActivitySearch({ text: 17, outcome: 'failed', from: '2026-13-01' }), {
    text: '17',
    outcome: 'failed',
  })
  assert.deepEqual(readActivitySearch({ outcome: 'unknown', text: { a: 1 }, to: 20261118 }), {})
  assert.deepEqual(readAuditSearch({ object: 'calendar', id: 17, user: ['anna'] }), {
    object: 'calendar',
    id: 17,
  })
})

test('the address of a report keeps valid days, groupings and filters', () => {
  const valid = {
    period: 'thisYear',
    from: '2026-11-17',
    to: '',
    staff: 2,
    groupBy: 'week',
    more: { tags: ['vip'] },
  }
  assert.deepEqual(readReportSearch(valid), valid)
  assert.deepEqual(
    readReportSearch({ period: 'ever', from: '2027-02-29', groupBy: 'x', more: 'vip', other: 1 }),
    {},
  )
})

test('periods of a report end on the last day of their month', () => {
  const days = (period: 'thisMonth' | 'lastMonth') => daysOf({ period }, '2028-03-31')
  assert.deepEqual(days('thisMonth'), { from: '2028-03-01', to: '2028-03-31' })
  assert.deepEqual(days('lastMonth'), { from: '2028-02-01', to: '2028-02-29' })
})
