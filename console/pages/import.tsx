import { Button, Checkbox, FileButton, Progress, Select } from '@mantine/core'
import { IconFileImport } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { waitingApprovalsQuery } from '../api/approvals.ts'
import { importCsv, readHeader, type CsvResult } from '../api/imports.ts'
import { useSession } from '../api/session.ts'
import { guessField } from '../components/guess-field.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { TimeZoneSelect } from '../components/time-zone-select.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { SettingsColumns } from './settings.tsx'
import classes from './settings.module.css'

const KINDS = [
  { kind: 'client', needs: 'EDIT_SCHEDULE' },
  { kind: 'calendar', needs: 'EDIT_SCHEDULE' },
  { kind: 'professional', needs: 'EDIT_SETUP' },
  { kind: 'reason', needs: 'EDIT_SETUP' },
  { kind: 'location', needs: 'EDIT_SETUP' },
] as const

type Kind = (typeof KINDS)[number]['kind']

export function ImportPage() {
  const { t } = useTranslation()
  const { functions, business } = useSession()
  const [kind, setKind] = useState<Kind>('client')
  const [file, setFile] = useState<File | null>(null)
  const [timeZone, setTimeZone] = useState(business.timeZone)
  const [isHistory, setHistory] = useState(true)
  const kinds = KINDS.filter(({ needs }) => functions.includes(needs))
  return (
    <>
      <PageHead title={t('import.title')} lede={t('import.lede')} />
      <SettingsColumns>
        <section className="card panel">
          <div className={classes.form}>
            <Select
              label={t('import.what')}
              description={t('import.order')}
              value={kind}
              onChange={(value) => value && setKind(value as Kind)}
              data={kinds.map(({ kind }) => ({ value: kind, label: t(`import.kinds.${kind}`) }))}
              allowDeselect={false}
            />
            {kind === 'calendar' && (
              <TimeZoneSelect
                description={t('import.timeZoneHint')}
                value={timeZone}
                onChange={(value) => value && setTimeZone(value)}
              />
            )}
            <Checkbox
              label={t('import.history')}
              description={t(
                kind === 'calendar' && !isHistory ? 'import.mailHint' : 'import.historyHint',
              )}
              checked={isHistory}
              onChange={(event) => setHistory(event.currentTarget.checked)}
            />
            <div className="row" style={{ flexWrap: 'wrap' }}>
              <FileButton onChange={setFile} accept=".csv,.tsv,.txt,text/csv">
                {(props) => (
                  <Button
                    {...props}
                    variant={file ? 'default' : 'filled'}
                    leftSection={<IconFileImport size={16} aria-hidden />}
                  >
                    {t('import.choose')}
                  </Button>
                )}
              </FileButton>
              {file && (
                <span className="soft small numbers">
                  {t('import.chosen', { name: file.name, size: Math.ceil(file.size / 1024) })}
                </span>
              )}
            </div>
          </div>
        </section>
        {file && (
          <Mapping
            key={`${kind} ${file.name} ${file.size} ${file.lastModified}`}
            file={file}
            kind={kind}
            timeZone={timeZone}
            isHistory={isHistory}
          />
        )}
      </SettingsColumns>
    </>
  )
}

type MappingProps = { file: File; kind: Kind; timeZone: string; isHistory: boolean }

/** The columns of the file, a dry run, and then the import. */
function Mapping({ file, kind, timeZone, isHistory }: MappingProps) {
  const { t } = useTranslation()
  const header = useQuery({
    queryKey: ['csv-header', kind, file.name, file.size, file.lastModified],
    retry: false,
    gcTime: 0,
    queryFn: () => readHeader(file, kind),
  })
  const [chosen, setChosen] = useState<Record<string, string>>({})
  const [progress, setProgress] = useState(0)
  const { columns = [], fields = [] } = header.data ?? {}
  const fieldOf = (column: string) => chosen[column] ?? guessField(column, columns, fields)
  const run = (dryRun: boolean) => {
    setProgress(0)
    const named = columns.filter(({ column }) => column !== '')
    const map = Object.fromEntries(named.map(({ column }) => [column, fieldOf(column)]))
    const onProgress = setProgress
    return importCsv({ file, kind, map, timeZone, isHistory, dryRun, onProgress })
  }
  const trial = useMutation({ mutationFn: () => run(true) })
  const real = useMutation({ mutationFn: () => run(false) })
  const isBusy = trial.isPending || real.isPending
  if (header.error) {
    return <Failure error={header.error} onRetry={() => void header.refetch()} />
  }
  if (!header.data) return <Loading />
  const failure = real.error ?? trial.error
  return (
    <>
      {!real.data && (
        <section className="card panel">
          <header>
            <h2>{t('import.mapping')}</h2>
          </header>
          <p className="soft small" style={{ marginTop: 0 }}>
            {t('import.mappingHint')}
          </p>
          <table className="table">
            <thead>
              <tr>
                <th>{t('import.column')}</th>
                <th>{t('import.field')}</th>
              </tr>
            </thead>
            <tbody>
              {columns.map(({ column }, i) => (
                <tr key={`${i} ${column}`}>
                  <td dir="auto">{column}</td>
                  <td style={{ padding: '4px 10px' }}>
                    <Select
                      size="xs"
                      aria-label={t('import.fieldOf', { column })}
                      value={fieldOf(column)}
                      onChange={(field) => {
                        setChosen({ ...chosen, [column]: field ?? '' })
                        trial.reset()
                      }}
                      data={[
                        { value: '', label: t('import.notImported') },
                        ...fields.map((field) => ({ value: field, label: wordsOf(field) })),
                      ]}
                      disabled={isBusy}
                      searchable
                      allowDeselect={false}
                    />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <div className="row" style={{ marginTop: 14, flexWrap: 'wrap' }}>
            <Button
              variant="default"
              onClick={() => trial.mutate()}
              loading={trial.isPending}
              disabled={isBusy}
            >
              {t('import.dryRun')}
            </Button>
            <Button onClick={() => real.mutate()} loading={real.isPending} disabled={isBusy}>
              {trial.data
                ? t('import.importCount', { count: acceptedIn(trial.data) })
                : t('import.importAll')}
            </Button>
          </div>
          {isBusy && (
            <Progress value={progress * 100} mt="sm" aria-label={t('import.progress')} animated />
          )}
          {failure && (
            <p role="alert" className="small clay">
              <ErrorMessage error={failure} />
            </p>
          )}
        </section>
      )}
      {(real.data ?? trial.data) && (
        <Result result={(real.data ?? trial.data)!} isDone={!!real.data} />
      )}
    </>
  )
}

const acceptedIn = ({ accepted }: CsvResult) =>
  Object.values(accepted).reduce((sum, count) => sum + count, 0)

/** "first name" of "firstName" */
const wordsOf = (field: string) => field.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()

const MAX_LINES = 50

function Result({ result, isDone }: { result: CsvResult; isDone: boolean }) {
  const { t } = useTranslation()
  const { refused, refusedCount } = result
  const shown = refused.slice(0, MAX_LINES)
  return (
    <section className="card panel" aria-live="polite">
      <header>
        <h2>{t(isDone ? 'import.done' : 'import.tried')}</h2>
        {isDone && <Link to="/">{t('import.toToday')}</Link>}
      </header>
      <p className="numbers" style={{ marginTop: 0 }}>
        <Trans
          i18nKey={isDone ? 'import.doneLede' : 'import.triedLede'}
          count={acceptedIn(result)}
          values={{ refused: refusedCount }}
          components={{
            b: <b className="strong" />,
            bad: <b className={refusedCount > 0 ? 'strong clay' : 'strong'} />,
          }}
        />
      </p>
      {isDone && result.approvalId !== undefined && <Approval approvalId={result.approvalId} />}
      {shown.length > 0 && (
        <div className={classes.scroll}>
          <table className="table">
            <thead>
              <tr>
                <th>{t('import.line')}</th>
                <th>{t('import.reason')}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map(({ line, reason }) => (
                <tr key={line}>
                  <td className="numbers">{line}</td>
                  <td className="mono">{reason}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {refusedCount > shown.length && (
        <p className="soft small">
          {t('import.moreRefused', { count: refusedCount - shown.length })}
        </p>
      )}
    </section>
  )
}

/** The import would have sent more mails at once than the business allows. */
function Approval({ approvalId }: { approvalId: number }) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const { data } = useQuery({
    ...waitingApprovalsQuery,
    enabled: functions.includes('VIEW_EMAILS'),
  })
  const mails = data?.items.find((approval) => approval.approvalId === approvalId)?.mails
  return (
    <div className="row" style={{ flexWrap: 'wrap', marginBottom: 14 }}>
      <span className="amber">
        {mails === undefined ? t('import.someWait') : t('import.wait', { count: mails })}
      </span>
      <Link to="/" className="strong">
        {t('import.decide')}
      </Link>
    </div>
  )
}
