import type { Found } from '../api/search.ts'

export type Recent = Pick<Found, 'kind' | 'id' | 'title'>

const MAX_RECENT = 5
const keyOf = (userId: number) => `bellwether.recent.${userId}`

/** The objects that the user last opened from the palette, stored in this browser. */
export function readRecent(userId: number): Recent[] {
  try {
    return JSON.parse(localStorage.getItem(keyOf(userId)) ?? '[]') as Recent[]
  } catch {
    return []
  }
}

export function addRecent(userId: number, { kind, id, title }: Recent) {
  const others = readRecent(userId).filter((one) => one.kind !== kind || one.id !== id)
  const recent = [{ kind, id, title }, ...others].slice(0, MAX_RECENT)
  localStorage.setItem(keyOf(userId), JSON.stringify(recent))
}

/** Client names are not stored, because others may use the browser. */
export const forgetRecent = (userId: number) => localStorage.removeItem(keyOf(userId))
