import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { revokeLink, sharedFilesQuery, type SharedFile } from '../api/report-links.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { IconLink } from '../components/icons.tsx'
import { Loaded } from '../components/states.tsx'
import { useBusinessTimeFormat } from '../components/time.ts'
import { nameOfUser } from '../components/user-name.ts'
import { ConfirmWindow } from '../components/windows.tsx'
import { Panel } from '../today/panel.tsx'
import { useReportName } from './report-name.ts'
import classes from './reports.module.css'

/** The files that anyone with their link can read, and how to end that. */
export function SharedFilesPanel() {
  const { t } = useTranslation()
  const { data: files, error, refetch } = useQuery(sharedFilesQuery)
  const [revoked, setRevoked] = useState<SharedFile>()
  const [failure, setFailure] = useState<unknown>()
  return (
    <Panel title={t('reports.share.panel')}>
      <Loaded
        query={{ data: files, error, refetch }}
        title={t('errors.list')}
        lines={2}
        empty={<p className="soft small">{t('reports.share.none')}</p>}
      >
        {(files) => (
          <ul className={classes.lines}>
            {files.map((file) => (
              <Shared key={file.reportLinkId} file={file} onRevoke={() => setRevoked(file)} />
            ))}
          </ul>
        )}
      </Loaded>
      <p role="alert" className={`small clay ${classes.note}`}>
        {failure !== undefined && <ErrorMessage error={failure} />}
      </p>
      <ConfirmWindow
        isOpen={revoked !== undefined}
        title={t('reports.share.revokeTitle', { name: revoked?.fileName ?? '' })}
        hint={t('reports.share.revokeHint')}
        button={t('reports.share.revokeButton')}
        onClose={() => setRevoked(undefined)}
        onConfirm={() => revoked && void revokeLink(revoked).catch(setFailure)}
      />
    </Panel>
  )
}

function Shared({ file, onRevoke }: { file: SharedFile; onRevoke: () => void }) {
  const { t } = useTranslation()
  const format = useBusinessTimeFormat()
  const reportName = useReportName()(file.reportId)
  return (
    <li>
      <IconLink size={17} stroke={1.7} className="accent" aria-hidden />
      <div className="grow small">
        <div className="strong">{reportName}</div>
        <div className="soft" style={{ overflowWrap: 'anywhere' }}>
          {file.fileName}
        </div>
        <div className="faint tiny">
          {t('reports.share.by', {
            name: nameOfUser(file.createdUser, t),
            time: format.moment(file.expiresTime),
          })}
        </div>
      </div>
      <Button
        variant="subtle"
        size="xs"
        aria-label={t('reports.share.revokeOf', { name: file.fileName })}
        onClick={onRevoke}
      >
        {t('reports.share.revoke')}
      </Button>
    </li>
  )
}
