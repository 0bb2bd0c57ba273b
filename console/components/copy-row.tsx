import { Button, CopyButton } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import classes from './copy-row.module.css'
import { IconCheck, IconCopy } from './icons.tsx'

/** A text to copy, such as a new key, with its button. */
export function CopyRow({ value, name, label }: { value: string; name: string; label: string }) {
  const { t } = useTranslation()
  return (
    <div className="row" style={{ flexWrap: 'wrap' }}>
      <code className={`mono ${classes.value}`} data-testid={name}>
        {value}
      </code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Button
            onClick={copy}
            leftSection={
              copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />
            }
          >
            {copied ? t('settings.keys.copied') : label}
          </Button>
        )}
      </CopyButton>
    </div>
  )
}
