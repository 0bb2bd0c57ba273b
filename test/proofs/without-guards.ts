import type { Sql } from '../../src/database/sql.ts'

/** The engine's statements with a guard taken out, to see that the proofs notice. */
export const withoutLeaseCheck = (text: string) =>
  text.replaceAll(/t\.status = 'RUNNING' and t\.lease_worker = (\$\d+)/g, '$1::text is not null')

export const withoutLocks = (text: string) => text.replaceAll(/for share( of \w)?/g, '')

/** Who plans and who fires may hold an object at the same time. */
export const withoutTurnsAtObjects = (text: string) =>
  text.replaceAll('for no key update', 'for share')

export const withoutTurns = (text: string) =>
  text.replace('first.scheduled_time is not null as "isDue"', 'false as "isDue"')

export function rewriting(rewrite: (text: string) => string) {
  const known = new Map<string, string>()
  return (statement: Sql): Sql => {
    const { text, values, isKept = false } = statement
    const rewritten = known.get(text) ?? rewrite(text)
    known.set(text, rewritten)
    return rewritten === text ? statement : { text: rewritten, values, isKept }
  }
}

/** A claim that begins at the beginning of time. */
export const withoutBeginning = (text: string) =>
  text.replaceAll(/scheduled_time >= (\$\d+)/g, '$1::timestamptz is not null')
