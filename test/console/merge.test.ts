import assert from 'node:assert/strict'
import { test } from 'node:test'
import { automationKind, newDraft } from '../../console/automations/draft.ts'
import { changesOf, countChanges, mergeVersions } from '../../console/records/changes.ts'

test('merging two versions of an automation takes the whole time of one version, not a mixture', () => {
  const base = { ...newDraft(), triggerHours: -48, triggerMinutes: 0 }
  const theirs = { ...base, triggerHours: 0, triggerMinutes: -30, description: 'Theirs' }
  const mine = { ...base, triggerHours: -5 }
  const { merged } = mergeVersions(automationKind, { base, mine, theirs })
  assert.deepEqual(merged, { ...mine, description: 'Theirs' })
  const unchanged = mergeVersions(automationKind, { base, mine: base, theirs })
  assert.deepEqual(unchanged.merged, theirs)
  assert.equal(unchanged.isSaved, true)
})

test('a conflict is a setting that both changed, to different values', () => {
  const base = newDraft()
  const mine = { ...base, triggerHours: -5 }
  const conflictWith = (theirs: typeof base) =>
    mergeVersions(automationKind, { base, mine, theirs }).isConflict
  assert.equal(conflictWith({ ...base, description: 'Theirs' }), false)
  assert.equal(conflictWith({ ...base, triggerHours: -5 }), false)
  assert.equal(conflictWith({ ...base, triggerHours: -6 }), true)
  assert.equal(conflictWith({ ...base, triggerMinutes: -30 }), true)
})

test('only fields with other values count as changes, a setting of several fields as one', () => {
  const draft = { name: 'Anna', phone: null as string | null, hours: [1, 2], months: 0 }
  assert.deepEqual(changesOf(draft, { ...draft, name: ' Anna ', hours: [1, 2] }), {})
  const changed = { ...draft, hours: [3], months: 1 }
  assert.deepEqual(changesOf(draft, changed), { hours: [3], months: 1 })
  assert.equal(countChanges(draft, changed, [['hours', 'months']]), 1)
})
