import type { Fault } from '../errors.ts'
import type { NamedKind } from '../store/named-objects.ts'
import type { DateOrder } from './dates.ts'
import type { Survey } from './survey.ts'

/** What a person has decided about a file. */
export type FileChoices = {
  /** The field of a column; '' for a column that is not imported. */
  map: Record<string, string>
  /** The map of a kept mapping. The file need not have all of its columns. */
  keptMap?: Record<string, string>
  dates?: DateOrder | undefined
  /** The status that a word means. */
  statuses: Record<string, string>
  /** Which object a name means, as `client:Anna Keller` → id, or `new`. */
  matches: Record<string, string>
  /** The name or address of the object for rows that name none. */
  defaults: Partial<Record<NamedKind, string>>
  /** Of which kinds objects that do not exist are created. */
  create: NamedKind[]
  /** For times without an offset. Default: the zone of the location. */
  timeZone?: string | undefined
}

/** Choices as parameters: `column=field`, `word=STATUS`, `kind:name=id`, `kind=name`. */
export type GivenChoices = {
  map?: string[] | undefined
  status?: string[] | undefined
  match?: string[] | undefined
  default?: string[] | undefined
  create?: NamedKind[] | undefined
  dates?: 'dmy' | 'mdy' | undefined
  timeZone?: string | undefined
}

/** A row without a client is refused. */
const DEFAULT_KINDS = ['professional', 'reason', 'location']

/** Reads choices; those of a kept mapping count where none are given. */
export function readChoices(
  given: GivenChoices,
  kept: Record<string, unknown> = {},
): { choices: FileChoices; faults: Fault[] } {
  const faults: Fault[] = []
  const pairsOf = (name: 'map' | 'status' | 'match' | 'default', form: string) => {
    const pairs: Record<string, string> = Object.create(null)
    for (const [i, text] of (given[name] ?? []).entries()) {
      // The last equals sign counts, since a column or a name may have one.
      const at = text.lastIndexOf('=')
      if (at < 1) faults.push({ pointer: `?${name}/${i}`, detail: `must be ${form}` })
      else pairs[text.slice(0, at)] = text.slice(at + 1)
    }
    return pairs
  }
  const earlier = kept as Partial<FileChoices>
  const defaults = pairsOf('default', 'kind=name')
  for (const kind of Object.keys(defaults)) {
    if (DEFAULT_KINDS.includes(kind)) continue
    faults.push({ pointer: '?default', detail: `must begin with ${DEFAULT_KINDS.join(', ')}` })
  }
  const choices: FileChoices = {
    map: pairsOf('map', 'column=field'),
    keptMap: earlier.map ?? {},
    dates: given.dates ?? earlier.dates,
    statuses: { ...earlier.statuses, ...pairsOf('status', 'word=STATUS') },
    matches: { ...earlier.matches, ...pairsOf('match', 'kind:name=id') },
    defaults: { ...earlier.defaults, ...defaults },
    create: given.create ?? earlier.create ?? [],
    timeZone: given.timeZone ?? earlier.timeZone,
  }
  return { choices, faults }
}

/** What the next file of the same form needs: every column as it was read, and all answers but clients. */
export function toKept(choices: FileChoices, { header, fields }: Survey): Record<string, unknown> {
  const { keptMap: _keptMap, matches, ...others } = choices
  const map = Object.fromEntries(header.map((column, i) => [column, fields[i] ?? '']))
  const general = Object.entries(matches).filter(([name]) => !name.startsWith('client:'))
  return { ...others, map, matches: Object.fromEntries(general) }
}
