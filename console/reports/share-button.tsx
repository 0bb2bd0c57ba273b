import { Button, Select } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { shareFile } from '../api/report-links.ts'
import type { PrintRequest } from '../api/reports.ts'
import { useSession } from '../api/session.ts'
import { CopyRow } from '../components/copy-row.tsx'
import { ErrorMessage } from '../components/error-message.tsx'
import { IconLink } from '../components/icons.tsx'
import { useBusinessTimeFormat } from '../components/time.ts'
import { FormWindow } from '../components/windows.tsx'

type Props = { request: PrintRequest; name: string; canPrint: boolean }

/** Gives somebody without a sign-in a link to a file of the report. */
export function ShareButton({ request, name, canPrint }: Props) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [isOpen, setOpen] = useState(false)
  if (!functions.includes('SCHEDULE_REPORTS')) return null
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconLink size={17} stroke={1.7} aria-hidden />}
        disabled={!canPrint}
        onClick={() => setOpen(true)}
      >
        {t('reports.share.button')}
      </Button>
      <FormWindow
        isOpen={isOpen}
        title={t('reports.share.title', { name })}
        onClose={() => setOpen(false)}
      >
        <ShareForm request={request} />
      </FormWindow>
    </>
  )
}

const FORMATS = ['pdf', 'xlsx', 'csv'] as const
const DAYS = [1, 7, 30]

function ShareForm({ request }: { request: PrintRequest }) {
  const { t } = useTranslation()
  const format = useBusinessTimeFormat()
  const [fileFormat, setFileFormat] = useState<(typeof FORMATS)[number]>('pdf')
  const [days, setDays] = useState(7)
  const share = useMutation({ mutationFn: () => shareFile(request, fileFormat, days) })
  if (share.data?.url) {
    return (
      <div className="column" style={{ gap: 12 }}>
        <p style={{ margin: 0 }}>
          {t('reports.share.made', { time: format.moment(share.data.expiresTime) })}
        </p>
        <CopyRow value={share.data.url} name="link" label={t('reports.share.copy')} />
      </div>
    )
  }
  return (
    <div className="column" style={{ gap: 16 }}>
      <p className="soft" style={{ margin: 0 }}>
        {t('reports.share.hint')}
      </p>
      <Select
        label={t('reports.mail.fields.format')}
        data={FORMATS.map((value) => ({ value, label: t(`reports.formats.${value}`) }))}
        value={fileFormat}
        allowDeselect={false}
        onChange={(value) => value && setFileFormat(value)}
      />
      <Select
        label={t('reports.share.works')}
        data={DAYS.map((count) => ({
          value: String(count),
          label: t('reports.share.days', { count }),
        }))}
        value={String(days)}
        allowDeselect={false}
        onChange={(value) => value && setDays(Number(value))}
      />
      <div className="row" style={{ flexWrap: 'wrap' }}>
        <Button loading={share.isPending} onClick={() => share.mutate()}>
          {t('reports.share.make')}
        </Button>
        <span role="alert" className="small clay">
          {share.error && <ErrorMessage error={share.error} />}
        </span>
      </div>
    </div>
  )
}
