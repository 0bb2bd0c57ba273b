import { Button } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import { waitingApprovalsQuery } from '../api/approvals.ts'
import { readRefusedRows, undoImport, type Choices, type FileResult } from '../api/imports.ts'
import { useSession } from '../api/session.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { saveFile } from '../components/save-file.ts'
import settings from '../setup/settings.module.css'
import classes from './import.module.css'
import { sayRefusal } from './refusals.ts'

export const rowsIn = ({ accepted }: FileResult, kind: string) => accepted[kind] ?? 0

const MAX_LINES = 50

type Props = { file: File; choices: Choices; result: FileResult; isDone: boolean }

/** What an import would do, or has done, in words. */
export function Result({ file, choices, result, isDone }: Props) {
  const { t } = useTranslation()
  const { refusedCount } = result
  return (
    <section className="card panel" aria-live="polite">
      <header>
        <h2>{t(isDone ? 'import.done' : 'import.tried')}</h2>
        {isDone && <Link to="/">{t('import.toToday')}</Link>}
      </header>
      <p style={{ marginTop: 0 }}>
        <Trans
          i18nKey={isDone ? 'import.doneLede' : 'import.triedLede'}
          values={{ count: rowsIn(result, choices.kind), refused: refusedCount }}
          components={{
            b: <b className="strong" />,
            bad: <b className={refusedCount > 0 ? 'strong clay' : 'strong'} />,
          }}
        />
      </p>
      <Counts result={result} />
      {isDone && result.approvalId !== undefined && <Approval approvalId={result.approvalId} />}
      {isDone && result.fileImportId !== undefined && <Undo fileImportId={result.fileImportId} />}
      <Refused file={file} choices={choices} result={result} />
    </section>
  )
}

/** The lines that are not imported, and why. */
function Refused({ file, choices, result }: Omit<Props, 'isDone'>) {
  const { t } = useTranslation()
  const { refused, refusedCount } = result
  const shown = refused.slice(0, MAX_LINES)
  const download = useMutation({
    mutationFn: () => readRefusedRows({ file, choices }),
    onSuccess: (rows) => saveFile('refused-rows.csv', rows, 'text/csv'),
  })
  return (
    <>
      {refusedCount > 0 && (
        <Button
          variant="default"
          size="xs"
          mb="sm"
          onClick={() => download.mutate()}
          loading={download.isPending}
        >
          {t('import.downloadRefused')}
        </Button>
      )}
      {download.error && (
        <p role="alert" className="small clay">
          <ErrorMessage error={download.error} />
        </p>
      )}
      {shown.length > 0 && (
        <div className={settings.scroll} tabIndex={0} role="region" aria-label={t('import.reason')}>
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
                  <td>{sayRefusal(reason)}</td>
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
    </>
  )
}

function Counts({ result }: { result: FileResult }) {
  const { t } = useTranslation()
  const { clients, planned, changes } = result
  return (
    <ul className={`soft small ${classes.counts}`}>
      <li>{t('import.changes', changes)}</li>
      {clients.withAddress + clients.withoutAddress > 0 && <li>{t('import.clients', clients)}</li>}
      {planned && (
        <li>{t('import.planned', { triggers: planned.triggers, mails: planned.mailsAtOnce })}</li>
      )}
    </ul>
  )
}

function Undo({ fileImportId }: { fileImportId: number }) {
  const { t } = useTranslation()
  const undo = useMutation({ mutationFn: () => undoImport(fileImportId) })
  if (undo.data) {
    return <p className="strong">{t('import.undone', undo.data)}</p>
  }
  return (
    <div className="row" style={{ flexWrap: 'wrap', marginBottom: 14 }}>
      <Button variant="default" size="xs" onClick={() => undo.mutate()} loading={undo.isPending}>
        {t('import.undo')}
      </Button>
      <span className="soft small">{t('import.undoHint')}</span>
      {undo.error && (
        <span role="alert" className="small clay">
          <ErrorMessage error={undo.error} />
        </span>
      )}
    </div>
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
