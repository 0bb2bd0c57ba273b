import { Fragment } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { changesOf } from '../records/changes.ts'
import { textOfHtml } from './body-html.ts'
import type { Draft } from './draft.ts'
import classes from './history.module.css'
import { useTemplateWords } from './template-words.ts'
import { diffWords, type DiffPart } from './word-diff.ts'

/** `level` only says whether `location` counts. */
export const changedFields = (from: Draft, to: Draft) =>
  (Object.keys(changesOf(from, to)) as (keyof Draft)[]).filter((field) => field !== 'level')

type Props = { from: Draft; to: Draft }

/** What differs between two states of a mail, in the words that its readers see. */
export function Differences({ from, to }: Props) {
  const { t } = useTranslation()
  const words = useTemplateWords()
  const fields = changedFields(from, to)
  return (
    <dl className={classes.fields}>
      {fields.map((field) => {
        const isBody = field === 'emailBody'
        const textOf = (draft: Draft) =>
          isBody ? textOfHtml(draft.emailBody) : words.value(field, draft)
        const [before, after] = [textOf(from), textOf(to)]
        return (
          <div key={field}>
            <dt>{isBody ? t('template.body') : words.label(field)}</dt>
            <dd>
              {before === after ? (
                <span className="soft">{t('template.history.onlyLook')}</span>
              ) : (
                <TextDifference before={before} after={after} />
              )}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

type TextLine = DiffPart[]

/** The changed lines of a text with one line around them; other lines are folded. */
function TextDifference({ before, after }: { before: string; after: string }) {
  const lines = linesOf(diffWords(before, after))
  const isChanged = (line: TextLine | undefined) =>
    line?.some(({ kind }) => kind !== 'same') ?? false
  const isShown = (i: number) => [i - 1, i, i + 1].some((near) => isChanged(lines[near]))
  return lines.map((line, i) =>
    isShown(i) ? (
      <p key={i} dir="auto">
        {line.map((part, place) => (
          <Part key={place} {...part} />
        ))}
      </p>
    ) : i === 0 || isShown(i - 1) ? (
      <p key={i} className="faint">
        …
      </p>
    ) : null,
  )
}

function Part({ kind, text }: DiffPart) {
  if (kind === 'same') return <Fragment>{text}</Fragment>
  return kind === 'added' ? <ins>{text}</ins> : <del>{text}</del>
}

function linesOf(parts: DiffPart[]): TextLine[] {
  const lines: TextLine[] = [[]]
  for (const { kind, text } of parts) {
    for (const [i, piece] of text.split(/\n+/).entries()) {
      if (i > 0) lines.push([])
      if (piece !== '') lines.at(-1)!.push({ kind, text: piece })
    }
  }
  return lines.filter((line) => line.length > 0)
}
