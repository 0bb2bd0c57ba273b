import { Button, Checkbox, FileButton, Progress, Select, TextInput } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ProblemError } from '../../src/client/client.ts'
import { useTranslation } from '../texts/translate.ts'
import {
  importFile,
  mappingsQuery,
  tryFile,
  type Choices,
  type FileQuestion,
} from '../api/imports.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { IconFileImport } from '../components/icons.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { Columns } from '../imports/columns.tsx'
import { Questions, withAnswered } from '../imports/questions.tsx'
import { sayRefusal } from '../imports/refusals.ts'
import { Result, rowsIn } from '../imports/result.tsx'
import classes from '../imports/import.module.css'
import { PageHead } from '../shell/page-head.tsx'
import { SettingsColumns } from '../setup/settings-frame.tsx'
import settings from '../setup/settings.module.css'

const KINDS = [
  { kind: 'calendar', needs: 'EDIT_SCHEDULE' },
  { kind: 'client', needs: 'EDIT_SCHEDULE' },
  { kind: 'professional', needs: 'EDIT_SETUP' },
  { kind: 'reason', needs: 'EDIT_SETUP' },
  { kind: 'location', needs: 'EDIT_SETUP' },
] as const

type Kind = (typeof KINDS)[number]['kind']

export function ImportPage() {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [kind, setKind] = useState<Kind>('calendar')
  const [file, setFile] = useState<File | null>(null)
  const [isHistory, setHistory] = useState(true)
  const [mapping, setMapping] = useState<string>()
  const { data: mappings } = useQuery(mappingsQuery)
  const kept = (mappings?.items ?? []).filter((one) => one.kind === kind)
  const kinds = KINDS.filter(({ needs }) => functions.includes(needs))
  return (
    <>
      <PageHead title={t('words.importAFile')} lede={t('import.lede')} />
      <SettingsColumns>
        <section className="card panel">
          <div className={settings.form}>
            <Select
              label={t('import.what')}
              value={kind}
              onChange={(value) => {
                if (value) setKind(value as Kind)
                setMapping(undefined)
              }}
              data={kinds.map(({ kind }) => ({ value: kind, label: t(`import.kinds.${kind}`) }))}
              allowDeselect={false}
            />
            <Checkbox
              label={t('import.history')}
              description={t(
                kind === 'calendar' && !isHistory ? 'import.mailHint' : 'import.historyHint',
              )}
              checked={isHistory}
              onChange={(event) => setHistory(event.currentTarget.checked)}
            />
            {kept.length > 0 && (
              <Select
                label={t('import.kept')}
                placeholder={t('import.keptNone')}
                data={kept.map(({ name }) => name)}
                value={mapping ?? null}
                onChange={(value) => setMapping(value ?? undefined)}
                clearable
              />
            )}
            <FileDrop file={file} onFile={setFile} />
          </div>
        </section>
        {file && (
          <FilePlan
            key={[kind, mapping, file.name, file.size, file.lastModified].join(' ')}
            file={file}
            kind={kind}
            mapping={mapping}
            isHistory={isHistory}
          />
        )}
      </SettingsColumns>
    </>
  )
}

function FileDrop({ file, onFile }: { file: File | null; onFile: (file: File | null) => void }) {
  const { t } = useTranslation()
  const [isOver, setOver] = useState(false)
  return (
    <div
      className={classes.drop}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onFile(event.dataTransfer.files[0] ?? null)
      }}
    >
      <span className="soft small">{t('import.drop')}</span>
      <FileButton onChange={onFile} accept=".csv,.tsv,.txt,.xlsx,text/csv">
        {(props) => (
          <Button
            {...props}
            variant={file ? 'default' : 'filled'}
            leftSection={<IconFileImport size={16} aria-hidden />}
          >
            {t('words.chooseAFile')}
          </Button>
        )}
      </FileButton>
      {file && (
        <span className="soft small">
          {t('import.chosen', { name: file.name, size: Math.ceil(file.size / 1024) })}
        </span>
      )}
    </div>
  )
}

/** Up to this size, every correction is tried at once. */
const MAX_TRIED_AT_ONCE = 2_000_000

const NO_CHOICES: Omit<Choices, 'kind' | 'mapping' | 'isHistory'> = {
  map: {},
  dates: undefined,
  statuses: {},
  matches: {},
  defaults: {},
  create: [],
}

type PlanProps = { file: File; kind: Kind; mapping: string | undefined; isHistory: boolean }

/** How the file is read, what is asked about it, a dry run, and then the import. */
function FilePlan({ file, kind, mapping, isHistory }: PlanProps) {
  const { chosen, answered, choose } = useChoices()
  const [tried, setTried] = useState(NO_CHOICES)
  const [progress, setProgress] = useState(0)
  const isSmall = file.size <= MAX_TRIED_AT_ONCE
  const complete = (some: typeof NO_CHOICES): Choices => ({ ...some, kind, mapping, isHistory })
  const choices = complete(chosen)
  const asked = complete(isSmall ? chosen : tried)
  const trial = useQuery({
    queryKey: ['file-import', file.name, file.size, file.lastModified, asked],
    queryFn: () => tryFile({ file, choices: asked, onProgress: setProgress }),
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
    refetchOnWindowFocus: false,
  })
  const real = useMutation({
    mutationFn: (keepAs: string) =>
      importFile({ file, choices, onProgress: setProgress }, keepAs.trim()),
  })
  if (!trial.data) {
    if (trial.error) return <NotRead error={trial.error} onRetry={() => void trial.refetch()} />
    return <Loading />
  }
  if (real.data) return <Result file={file} choices={choices} result={real.data} isDone />
  const isStale = !isSmall && chosen !== tried
  const isBusy = trial.isFetching || real.isPending
  const needsDates = trial.data.questions.some(({ about }) => about === 'dates')
  const count = rowsIn(trial.data, kind)
  return (
    <>
      <Columns
        result={trial.data}
        isBusy={real.isPending}
        onMap={(column, field) => choose({ map: { ...chosen.map, [column]: field } })}
      />
      <Questions
        result={trial.data}
        questions={withAnswered(answered, trial.data.questions)}
        choices={choices}
        isBusy={real.isPending}
        onChoose={choose}
      />
      <Result file={file} choices={choices} result={trial.data} isDone={false} />
      <ImportPanel
        count={count}
        isImporting={real.isPending}
        isReady={!isBusy && !isStale && !needsDates && count > 0}
        progress={isBusy ? progress : undefined}
        error={real.error ?? trial.error}
        onTry={isStale ? () => setTried(chosen) : undefined}
        onImport={real.mutate}
      />
    </>
  )
}

/** What was decided about the file, and the questions that it answered. */
function useChoices() {
  const [chosen, setChosen] = useState(NO_CHOICES)
  const [answered, setAnswered] = useState<FileQuestion[]>([])
  const choose = (change: Partial<Choices>, question?: FileQuestion) => {
    setChosen({ ...chosen, ...change })
    if (question) setAnswered(withAnswered(answered, [question]))
  }
  return { chosen, answered, choose }
}

/** A file that is not a table, or the failure of a request. */
function NotRead({ error, onRetry }: { error: Error; onRetry: () => void }) {
  if (!(error instanceof ProblemError && error.status === 422))
    return <Failure error={error} onRetry={onRetry} />
  return (
    <p role="alert" className="card panel clay">
      {sayRefusal(error.message)}
    </p>
  )
}

type ImportProps = {
  /** How many rows are imported. */
  count: number
  isImporting: boolean
  isReady: boolean
  /** From 0 to 1 while a dry run or the import runs. */
  progress: number | undefined
  error: unknown
  /** Undefined: the dry run shows the choices as they are. */
  onTry: (() => void) | undefined
  onImport: (keepAs: string) => void
}

/** The buttons of the dry run and the import, and how far it is. */
function ImportPanel(props: ImportProps) {
  const { count, isImporting, isReady, progress, error, onTry, onImport } = props
  const { t } = useTranslation()
  const [keepAs, setKeepAs] = useState('')
  const isBusy = progress !== undefined
  return (
    <section className="card panel">
      <div className={settings.form}>
        <TextInput
          label={t('import.keepAs')}
          description={t('import.keepAsHint')}
          value={keepAs}
          maxLength={100}
          onChange={(event) => setKeepAs(event.currentTarget.value)}
        />
        <div className="row" style={{ flexWrap: 'wrap' }}>
          {onTry && (
            <Button variant="default" onClick={onTry} disabled={isBusy}>
              {t('import.dryRun')}
            </Button>
          )}
          <Button onClick={() => onImport(keepAs)} loading={isImporting} disabled={!isReady}>
            {t('import.importCount', { count })}
          </Button>
        </div>
        {isBusy && <Progress value={progress * 100} aria-label={t('import.progress')} animated />}
        {error != null && (
          <p role="alert" className="small clay">
            <ErrorMessage error={error} />
          </p>
        )}
      </div>
    </section>
  )
}
