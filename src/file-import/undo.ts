import { OBJECT_KINDS, type ObjectKind } from '../contract/objects.ts'
import type { Db } from '../database/database.ts'
import { conflict, notFound, RequestError } from '../errors.ts'
import { checkHtmlOf } from '../scheduling/email-templates.ts'
import { saveObjects } from '../scheduling/save.ts'
import type { Allow, Author, Saving } from '../scheduling/saving.ts'
import {
  deleteImportedObjects,
  findFileImport,
  isReferredKind,
  listReferredIds,
  listUndoableObjects,
  markUndone,
  readVersions,
  wasSomethingSent,
  type UndoableObject,
} from '../store/file-imports.ts'
import { SettingsCache } from '../store/settings.ts'

/** How long an import can be undone. */
export const UNDO_HOURS = 24
/** Bookings wait for the locks of a page. */
const PAGE = 500

type Undoing = Author & {
  fileImportId: number
  visibility?: NonNullable<Saving['visibility']> | null
}

export type Undone = {
  /** Objects that are as they were before. */
  undone: number
  /** Objects that stay, because a person changed or used them since. */
  kept: number
}

/**
 * Takes back an import: deletes what it created, and restores what it changed, in pages. If that is
 * interrupted, the next call continues.
 */
export async function undoImport(db: Db, undoing: Undoing): Promise<Undone> {
  const { now, fileImportId } = undoing
  const found = await findFileImport(db, undoing)
  if (!found) throw notFound('import', fileImportId)
  if (found.createdDate.add({ hours: UNDO_HOURS }).epochMilliseconds < now.epochMilliseconds) {
    throw conflict(`An import can be undone for ${UNDO_HOURS} hours.`)
  }
  if (!found.undoneDate && (await wasSomethingSent(db, undoing, found.createdDate))) {
    throw conflict('A mail about this import was sent, so it cannot be undone.')
  }
  await markUndone(db, undoing, undoing)
  const total: Undone = { undone: 0, kept: 0 }
  // An object is undone before those that it refers to.
  for (const kind of OBJECT_KINDS.toReversed()) await undoKind(db, kind, undoing, total)
  return total
}

async function undoKind(db: Db, kind: ObjectKind, undoing: Undoing, total: Undone) {
  for (let after = ''; ;) {
    const page = await listUndoableObjects(db, undoing, { kind: kind.kind, after, limit: PAGE })
    if (page.length === 0) return
    const undone = await undoPage(db, kind, page, undoing)
    total.undone += undone
    total.kept += page.length - undone
    after = page.at(-1)!.id
  }
}

async function undoPage(db: Db, kind: ObjectKind, page: UndoableObject[], undoing: Undoing) {
  const { businessId } = undoing
  const changed = page.flatMap(({ id, versionBefore }) =>
    versionBefore === null ? [] : { id, version: versionBefore },
  )
  const versions = await readVersions(db, businessId, kind, changed)
  const bodies = page.map(({ id }) => ({
    [kind.id]: kind.id === 'invitationUUID' ? id : Number(id),
    active: false,
    ...versions.get(id),
  }))
  const html = await checkHtmlOf(kind, bodies, businessId)
  return db.transaction(async (tx) => {
    const created = page.filter(({ versionBefore }) => versionBefore === null).map(({ id }) => id)
    const used = isReferredKind(kind.kind)
      ? await listReferredIds(tx, businessId, kind.kind, created)
      : new Set<string>()
    const allow = ({ id, versionBefore, version }: UndoableObject): Allow =>
      allowUnchanged(version, used.has(id) || (versionBefore !== null && !versions.has(id)))
    const saving = { ...undoing, settings: new SettingsCache(), history: true, html }
    const outcomes = await saveObjects(tx, kind, bodies, saving, page.map(allow))
    await deleteImportedObjects(
      tx,
      undoing,
      kind.kind,
      page.map(({ id }) => id),
    )
    return outcomes.filter(({ refused }) => !refused).length
  })
}

/** An object stays if it was changed or used since, or if the audit does not say how it was. */
const allowUnchanged =
  (version: number, stays: boolean): Allow =>
  (current) => {
    if (stays || current?.version !== version) {
      throw new RequestError(409, 'was changed or used after the import')
    }
  }
