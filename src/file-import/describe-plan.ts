import { MAX_LISTED_QUESTIONS, type CsvImportResult } from '../contract/import.ts'
import { NAMED_KINDS, type NamedKind } from '../store/named-objects.ts'
import { fieldsOf } from './fields.ts'
import type { FilePlan, Question } from './plan-file.ts'

type Missing = FilePlan['missing'][NamedKind][number]
type Described = Omit<CsvImportResult, 'accepted' | 'refused' | 'refusedCount' | 'changes'>

/** How a file is read, for people. */
export function describePlan(plan: FilePlan): Described {
  const { survey, kind, format, questions, missing } = plan
  return {
    format: format.type,
    headerRow: survey.headerRow,
    columns: survey.header.map((column, i) => ({ column, field: survey.fields[i] ?? null })),
    fields: fieldsOf(kind),
    dates: survey.order === undefined ? null : plan.order,
    rowCount: survey.rowCount,
    rows: plan.shownRows(),
    statusWords: plan.statusWords.slice(0, MAX_LISTED_QUESTIONS),
    questions: questions.slice(0, MAX_LISTED_QUESTIONS).map(shownQuestion),
    newObjects: NAMED_KINDS.flatMap((kind) =>
      missing[kind]
        .toSorted(byAddress)
        .slice(0, MAX_LISTED_QUESTIONS)
        .map(({ value, count }) => ({
          kind,
          name: value.name || value.emailAddress,
          emailAddress: value.emailAddress,
          rows: count,
        })),
    ),
    newCounts: Object.fromEntries(NAMED_KINDS.map((kind) => [kind, missing[kind].length])),
    clients: plan.clients,
  }
}

/** Those without an address first: a person may know whom they mean. */
const byAddress = (a: Missing, b: Missing) =>
  Number(a.value.emailAddress !== '') - Number(b.value.emailAddress !== '')

const shownQuestion = (question: Question): CsvImportResult['questions'][number] =>
  question.about === 'status'
    ? { about: 'status', name: question.word, rows: question.rows }
    : question
