import { sayFault } from '../components/faults.ts'
import { fillText } from '../texts/translate.ts'
import { reasonText, type Reason } from './texts.ts'

/** Why a row or a file is refused, in the language of the user. The service says it in English. */
export const sayRefusal = (reason: string) => reason.split(BETWEEN_REASONS).map(sayOne).join('; ')

/** Not within the quotes of a value. */
const BETWEEN_REASONS = /; (?=[^”]*(?:“|$))/

function sayOne(reason: string) {
  for (const [pattern, key] of REFUSALS) {
    const found = pattern.exec(reason)
    if (found) return fillText(reasonText(key), found.groups)
  }
  // `E-Mail: must be one plain address`
  const [, column, detail] = /^([^:]+: )(.+)$/.exec(reason) ?? []
  return column && detail ? column + sayFault(detail) : reason
}

const REFUSALS: [pattern: RegExp, key: Reason][] = [
  [/^“(?<value>.*)” is not a date or time: write it as (?<example>.+)$/, 'noDate'],
  [/^“(?<value>.*)” is not a duration/, 'noDuration'],
  [/^“(?<value>.*)” is not an email address/, 'noAddress'],
  [/^“(?<value>.*)” is too long for a name: (?<most>\d+)/, 'longName'],
  [/^has no time of day/, 'noTimeOfDay'],
  [/^has no start/, 'noStart'],
  [/^has no end and no duration/, 'noEnd'],
  [/^names no client/, 'noClient'],
  [/^names no member of staff/, 'noProfessional'],
  [/^names no service/, 'noReason'],
  [/^names no location/, 'noLocation'],
  [/^(?<count>\d+) .* are called “(?<value>.*)”: say which one$/, 'several'],
  [/^there is no [a-z ]+ “(?<value>.*)”: create it/, 'unknown'],
  [/^there is no [a-z ]+ “(?<value>.*)”\./, 'forbidden'],
  [/^the status “(?<value>.*)” is not known/, 'status'],
  [/^has (?<found>\d+) cells, but the header has (?<expected>\d+)/, 'cells'],
  [/^has characters that cannot be read/, 'notDecoded'],
  [/^This is a calendar file/, 'calendarFile'],
  [/^No column is a property of .*: row (?<row>\d+) was/, 'noColumn'],
  [/^(?:a quote is opened and not closed|text stands behind a closing quote)/, 'quote'],
  [
    /^(?:This is a (?:web page|PDF|workbook)|This is JSON|The (?:workbook is damaged|file is))/,
    'saveAgain',
  ],
]
