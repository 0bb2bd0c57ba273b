import { MARK_NAMES } from '../components/mark-names.ts'
import { day, id, oneOf, readSearch, text } from '../components/search.ts'

/** The filters of the page Activity in its address; the first and the last day are both included. */
export const readActivitySearch = readSearch({
  outcome: oneOf(MARK_NAMES),
  text,
  automation: id,
  location: id,
  client: id,
  from: day,
  to: day,
})
export type ActivitySearch = ReturnType<typeof readActivitySearch>
