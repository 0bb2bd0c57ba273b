import type { ActionInput } from '../contract/event-action.ts'
import type { Db } from '../database/database.ts'
import {
  listActions,
  listActionsOfDefinitions,
  type RunningAction,
} from '../store/event-actions.ts'
import type { StoredDefinition } from '../store/event-definitions.ts'
import { describeObjects } from '../store/object-names.ts'
import { tableOf } from '../store/object-tables.ts'
import type { Subject } from '../store/subject.ts'
import type { Visibility } from '../store/visibility.ts'
import { isSameAction, readAgainst } from './define.ts'

/** What a forecast and a backtest share: the definition as if it were saved, and samples of the result. */

export type WhatIf = {
  businessId: number
  now: Temporal.Instant
  /** Called after each page; the result is partial once it returns false. */
  hasTimeLeft: () => boolean
  /** The objects that the caller may see; only these are shown as samples. */
  visibility: Visibility
  /** How many samples to show; in a forecast, of each kind of change. */
  limit: number
  /** How many samples earlier pages have shown. */
  offset: number
}

/** The definition as it would be stored: a new version that no trigger is planned by yet. */
export async function readWhatIf(db: Db, body: unknown, options: WhatIf) {
  const { before, wanted, actions } = await readAgainst(db, body, options)
  const definition: StoredDefinition = {
    eventDefnId: 0,
    createdDate: options.now,
    createdUser: '',
    ...before,
    ...wanted,
    version: (before?.version ?? 0) + 1,
    plannedVersion: before?.plannedVersion ?? 0,
    askedSince: null,
    deletedDate: null,
    modifiedDate: options.now,
    modifiedUser: '',
  }
  return { before, actions, definition }
}

/** The stored actions as the body would change them, and those it would add. */
export async function actionsAfterSaving(
  db: Db,
  businessId: number,
  before: StoredDefinition | undefined,
  given: ActionInput[],
): Promise<RunningAction[]> {
  const [running, stored] = before
    ? await Promise.all([
        listActionsOfDefinitions(db, [before]),
        listActions(db, businessId, { eventDefnIds: [before.eventDefnId] }),
      ])
    : [[], []]
  const changed = running.flatMap((action) => {
    const change = given.findLast(({ eventActionId }) => eventActionId === action.eventActionId)
    if (!change) return [action]
    const { emailTemplateId = action.emailTemplateId, recipient = action.recipient } = change
    return change.active !== false ? [{ ...action, emailTemplateId, recipient }] : []
  })
  const isNew = (action: ActionInput) =>
    action.active &&
    action.eventActionId === undefined &&
    !stored.some((known) => isSameAction(known, action))
  const added = given.filter(isNew).map(
    (action) =>
      ({
        businessId,
        emailTemplateId: action.emailTemplateId,
        recipient: action.recipient ?? null,
        transactional: null,
      }) as RunningAction,
  )
  return [...changed, ...added]
}

/** The samples of the requested page, about objects that the caller may see. */
export class Samples<Sample extends { subject: Subject }> {
  readonly shown: Sample[] = []
  readonly #visible = new Map<string, number>()
  readonly #options: WhatIf

  constructor(options: WhatIf) {
    this.#options = options
  }

  /** Samples of each kind have pages of their own. */
  add(sample: Sample, kind = '') {
    const { visibility, limit, offset } = this.#options
    if (!isShown(sample.subject, visibility)) return
    const place = this.#visible.get(kind) ?? 0
    this.#visible.set(kind, place + 1)
    if (place >= offset && place < offset + limit) this.shown.push(sample)
  }

  /** The names of their objects, in the same order. */
  describe(db: Db) {
    const subjects = this.shown.map(({ subject }) => subject)
    return describeObjects(db, this.#options.businessId, subjects)
  }
}

/** Counts cover the whole business; samples name people, so they only show what the caller sees. */
function isShown(subject: Subject, visibility: Visibility): boolean {
  if (visibility === null || !tableOf(subject.objectType).hasLocation) return true
  if ('locationIds' in visibility) {
    return subject.locationId != null && visibility.locationIds.includes(subject.locationId)
  }
  return visibility.professionalId !== null && subject.professionalId === visibility.professionalId
}
