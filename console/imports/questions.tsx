import { Autocomplete, Checkbox, Radio, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import type { Choices, FileQuestion, FileResult, NamedKind } from '../api/imports.ts'
import { setupQuery, type Setup } from '../api/setup.ts'
import { ClientSelect } from '../clients/client-select.tsx'
import classes from './import.module.css'

type Props = {
  result: FileResult
  /** Those of the result, and those that were answered, so that an answer can be changed. */
  questions: FileQuestion[]
  choices: Choices
  isBusy: boolean
  onChoose: (change: Partial<Choices>, answered?: FileQuestion) => void
}

/** What only a person can decide: dates, equal names, status words, and what is created. */
export function Questions(props: Props) {
  const { t } = useTranslation()
  const { result, questions } = props
  const known = result.statusWords.filter(({ status }) => status !== null)
  const kinds = KINDS.filter((kind) => (result.newCounts[kind] ?? 0) > 0)
  const unknown = clientsWithoutAddress(props)
  if (questions.length + known.length + kinds.length + unknown.length === 0) return null
  return (
    <section className="card panel">
      <header>
        <h2>{t('import.questions')}</h2>
      </header>
      {questions.map((question) => (
        <Question key={keyOf(question)} question={question} {...props} />
      ))}
      {known.map(({ word, rows, status }) => (
        <StatusSelect key={word} word={word} rows={rows} status={status} {...props} />
      ))}
      {unknown.length > 0 && <ClientsWithoutAddress names={unknown} {...props} />}
      {kinds.map((kind) => (
        <NewObjects key={kind} kind={kind} {...props} />
      ))}
    </section>
  )
}

const KINDS: NamedKind[] = ['client', 'professional', 'reason', 'location']

const keyOf = ({ about, kind, name }: FileQuestion) => `${about} ${kind} ${name}`

/** What the dry run asks, after what was answered before. */
export const withAnswered = (answered: FileQuestion[], asked: FileQuestion[]) => [
  ...new Map([...answered, ...asked].map((question) => [keyOf(question), question])).values(),
]

type QuestionProps = Props & { question: FileQuestion }

function DatesQuestion({ question, choices, isBusy, onChoose }: QuestionProps) {
  const { t } = useTranslation()
  const [example = '03/04/2026'] = question.examples ?? []
  return (
    <Radio.Group
      className={classes.question}
      label={t('import.dates', { example })}
      value={choices.dates ?? ''}
      onChange={(dates) => onChoose({ dates: dates as 'dmy' | 'mdy' }, question)}
    >
      <div className={classes.options}>
        <Radio size="md" value="dmy" label={t('import.dayFirst')} disabled={isBusy} />
        <Radio size="md" value="mdy" label={t('import.monthFirst')} disabled={isBusy} />
      </div>
    </Radio.Group>
  )
}

function Question(props: QuestionProps) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const { question, choices, isBusy, onChoose } = props
  const { about, kind = 'client', name = '', rows = 0, among = [] } = question
  if (about === 'dates') return <DatesQuestion {...props} />
  if (about === 'status') return <StatusSelect word={name} rows={rows} status={null} {...props} />
  if (about === 'default') {
    return (
      <DefaultName
        label={t(`import.default.${kind}`, { count: rows })}
        names={setup ? namesOf(kind, setup) : []}
        chosen={choices.defaults[kind] ?? ''}
        isBusy={isBusy}
        onChoose={(name) => onChoose({ defaults: { ...choices.defaults, [kind]: name } }, question)}
      />
    )
  }
  return (
    <Select
      className={classes.question}
      label={t('import.match', { name, count: rows })}
      placeholder={t('import.choosePlease')}
      data={[
        ...among.map(({ id, name, emailAddress }) => ({
          value: String(id),
          label: `${name} ${emailAddress ? `<${emailAddress}>` : t('import.numbered', { id })}`,
        })),
        { value: 'new', label: t('import.newOne') },
      ]}
      value={choices.matches[`${kind}:${name}`] ?? null}
      onChange={(value) =>
        value && onChoose({ matches: { ...choices.matches, [`${kind}:${name}`]: value } }, question)
      }
      disabled={isBusy}
    />
  )
}

type DefaultProps = {
  label: string
  names: string[]
  chosen: string
  isBusy: boolean
  onChoose: (name: string) => void
}

/** One that exists, or the name of a new one, which is only created if that is ticked below. */
function DefaultName({ label, names, chosen, isBusy, onChoose }: DefaultProps) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState(chosen)
  const choose = (text: string) => {
    const name = text.trim()
    if (name !== '' && name !== chosen) onChoose(name)
  }
  return (
    <Autocomplete
      className={classes.question}
      label={label}
      description={t('import.defaultHint')}
      placeholder={t('import.choosePlease')}
      data={names}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={choose}
      onBlur={() => choose(typed)}
      disabled={isBusy}
    />
  )
}

function namesOf(kind: NamedKind, { professionals, services, locations }: Setup) {
  const names =
    kind === 'professional'
      ? professionals.map(({ firstName, lastName }) => `${firstName} ${lastName}`)
      : (kind === 'reason' ? services : locations).map(({ name }) => name)
  return [...new Set(names)]
}

type StatusProps = Props & { word: string; rows: number; status: string | null }

function StatusSelect({ word, rows, status, choices, isBusy, onChoose }: StatusProps) {
  const { t } = useTranslation()
  const { data: setup } = useQuery(setupQuery)
  const statuses = (setup?.statuses ?? []).filter(({ objectType }) => objectType === 'CALENDAR')
  return (
    <Select
      className={classes.question}
      label={t('import.status', { word, count: rows })}
      placeholder={t('import.choosePlease')}
      data={statuses.map(({ status, label }) => ({ value: status, label }))}
      value={status}
      onChange={(value) => value && onChoose({ statuses: { ...choices.statuses, [word]: value } })}
      disabled={isBusy}
      allowDeselect={false}
    />
  )
}

const MAX_NAMES = 12

/** Names of clients that are not known and cannot get mail, and those for which a client was chosen. */
function clientsWithoutAddress({ result, questions, choices }: Props) {
  const asked = new Set(questions.map(({ kind, name }) => `${kind}:${name}`))
  const chosen = Object.entries(choices.matches).flatMap(([key, value]) =>
    key.startsWith('client:') && value !== 'new' && !asked.has(key)
      ? [key.slice('client:'.length)]
      : [],
  )
  const isUnknown = ({ kind, emailAddress }: FileResult['newObjects'][number]) =>
    kind === 'client' && emailAddress === ''
  const names = result.newObjects.filter(isUnknown).map(({ name }) => name)
  return [...new Set([...chosen, ...names.slice(0, MAX_NAMES)])]
}

/** Looks each of them up by name: a known client may have an address. */
function ClientsWithoutAddress({ names, choices, onChoose }: Props & { names: string[] }) {
  const { t } = useTranslation()
  return (
    <section aria-label={t('import.withoutAddress')} className={classes.question}>
      <h3 className="small strong">{t('import.withoutAddress')}</h3>
      <p className="soft small">{t('import.withoutAddressHint')}</p>
      {names.map((name) => {
        const key = `client:${name}`
        const chosen = choices.matches[key]
        return (
          <ClientSelect
            key={name}
            label={t('import.whoIs', { name })}
            value={chosen === undefined || chosen === 'new' ? undefined : Number(chosen)}
            error={undefined}
            onChange={(id) => onChoose({ matches: { ...choices.matches, [key]: String(id) } })}
          />
        )
      })}
    </section>
  )
}

/** One tick creates all objects of a kind that do not exist. */
function NewObjects({ kind, result, choices, isBusy, onChoose }: Props & { kind: NamedKind }) {
  const { t } = useTranslation()
  const count = result.newCounts[kind] ?? 0
  const names = result.newObjects.filter((one) => one.kind === kind).map(({ name }) => name)
  const isTicked = choices.create.includes(kind)
  return (
    <div style={{ marginBottom: 14 }}>
      <Checkbox
        label={t(`import.create.${kind}`, { count })}
        checked={isTicked}
        disabled={isBusy}
        onChange={({ currentTarget: { checked } }) => {
          const others = choices.create.filter((one) => one !== kind)
          onChoose({ create: checked ? [...others, kind] : others })
        }}
      />
      <p className={`soft small ${classes.names}`} dir="auto">
        {names.slice(0, MAX_NAMES).join(', ')}
        {count > MAX_NAMES && ` ${t('import.moreNames', { count: count - MAX_NAMES })}`}
      </p>
    </div>
  )
}
