import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeDrafts, newDraft } from '../../console/automations/draft.ts'

test('merging two versions of an automation takes the whole time of one version, not a mixture', () => {
  const base = { ...newDraft(), triggerHours: -48, triggerMinutes: 0 }
  const theirs = { ...base, triggerHours: 0, triggerMinutes: -30, description: 'Theirs' }
  const mine = { ...base, triggerHours: -5 }
  assert.deepEqual(mergeDrafts(base, mine, theirs), { ...mine, description: 'Theirs' })
  assert.deepEqual(mergeDrafts(base, base, theirs), theirs)
})
