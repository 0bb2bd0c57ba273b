import type { Sql } from '../../src/database/sql.ts'

// The engine's statements without one guard, to see that the proofs fail.

/** A worker treats every trigger that it ever claimed as its own, also if another worker finished it. */
export const withoutLeaseCheck = (text: string) =>
  text.replace(
    /select w\.event_trigger_id as id(\s+from\s+unnest\([^()]*\)\s+as k \([^()]*\))\s+cross join lateral \([^()]*worker = (\$\d+)[^()]*limit 1 for update skip locked\) w/,
    'select k.event_trigger_id as id $1 where $2::text is not null',
  )

/** Triggers of a worker that died are given up at once. */
export const withoutRetries = (text: string) =>
  text.replaceAll(/failed\.attempts > (\$\d+)/g, '$1::int is not null')

export const withoutLocks = (text: string) =>
  text.replaceAll(/for share( of \w)?( skip locked)?/g, '')

/** Two workers may plan the same definition, and may plan and fire the same object, at the same time. */
export const withoutObjectLocks = (text: string) =>
  text
    .replace(/(select from \w+ t where [^;]*)for no key update/, '$1for share')
    .replace(
      /where work_lease\.worker = excluded\.worker or work_lease\.lease_until < (\$\d+)/,
      'where $1::timestamptz is not null',
    )

export const withoutFairShare = (text: string) =>
  text.replace('first.is_due is not null as "isDue"', 'false as "isDue"')

export function rewriting(rewrite: (text: string) => string) {
  const known = new Map<string, string>()
  return (statement: Sql): Sql => {
    const { text, values } = statement
    const rewritten = known.get(text) ?? rewrite(text)
    known.set(text, rewritten)
    return rewritten === text ? statement : { text: rewritten, values }
  }
}

/** A claim reads the index from its first entry, not from the time until which all triggers are claimed. */
export const withoutClaimStart = (text: string) =>
  text.replaceAll(/(q\.)?next_attempt_time >= (\$\d+)/g, '$2::timestamptz is not null')
