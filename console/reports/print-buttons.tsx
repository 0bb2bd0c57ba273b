import { Button } from '@mantine/core'
import { IconFileTypeCsv, IconFileTypePdf, IconFileTypeXls } from '../components/icons.tsx'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { printFile, type PrintRequest } from '../api/reports.ts'
import { faultAt } from '../components/faults.ts'
import { messageOf } from '../components/error-message.tsx'
import { showWhile } from '../components/held-actions.tsx'
import { saveFile } from '../components/save-file.ts'

const FILES = [
  { format: 'pdf', icon: IconFileTypePdf },
  { format: 'xlsx', icon: IconFileTypeXls },
  { format: 'csv', icon: IconFileTypeCsv },
] as const
type Format = (typeof FILES)[number]['format']

type Props = { request: PrintRequest; name: string; canPrint: boolean }

/** Prints the report as a file and saves it. The print goes on if the person leaves the page. */
export function PrintButtons({ request, name, canPrint }: Props) {
  const { t } = useTranslation()
  const [printing, setPrinting] = useState<Format>()
  const print = (format: Format) => {
    setPrinting(format)
    showWhile(
      t('reports.printing', { name, format: t(`reports.formats.${format}`) }),
      async (onProgress) => {
        try {
          const { name: fileName, file } = await printFile(request, format, onProgress)
          saveFile(fileName, file, file.type)
          return t('reports.printed', { name: fileName })
        } catch (error) {
          return t('reports.notPrinted', {
            name,
            reason: faultAt(error, 'format') ?? messageOf(error, t),
          })
        } finally {
          setPrinting(undefined)
        }
      },
    )
  }
  return (
    <Button.Group>
      {FILES.map(({ format, icon: Icon }) => (
        <Button
          key={format}
          variant={format === 'pdf' ? 'filled' : 'default'}
          leftSection={<Icon size={17} stroke={1.7} aria-hidden />}
          loading={printing === format}
          disabled={!canPrint || printing !== undefined}
          onClick={() => print(format)}
        >
          {t(`reports.formats.${format}`)}
        </Button>
      ))}
    </Button.Group>
  )
}
