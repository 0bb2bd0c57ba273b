import { Button, FileButton, Group, Input } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from '../texts/translate.ts'
import { uploadLogo } from '../api/business.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import type { At } from '../records/use-record.ts'

type Props = At<string | null> & { readOnly: boolean }

/** The picture at the top of mails. It is uploaded at once, and used when the form is saved. */
export function LogoField({ value, error, onChange, readOnly }: Props) {
  const { t } = useTranslation()
  const upload = useMutation({ mutationFn: uploadLogo, onSuccess: onChange })
  return (
    <Input.Wrapper
      label={t('logo.label')}
      labelElement="div"
      description={t('logo.hint')}
      error={upload.error ? <ErrorMessage error={upload.error} /> : error}
    >
      <Group gap={8} mt={6}>
        {value && <img src={`/fileLibrary/${value}/content`} alt={t('logo.label')} height={48} />}
        {!readOnly && (
          <FileButton
            accept="image/png,image/jpeg"
            inputProps={{ 'aria-label': t('logo.file') }}
            onChange={(file) => file && upload.mutate(file)}
          >
            {(props) => (
              <Button {...props} variant="default" size="xs" loading={upload.isPending}>
                {t(value ? 'logo.replace' : 'words.chooseAFile')}
              </Button>
            )}
          </FileButton>
        )}
        {!readOnly && value && (
          <Button variant="subtle" size="xs" color="var(--ink)" onClick={() => onChange(null)}>
            {t('logo.remove')}
          </Button>
        )}
      </Group>
    </Input.Wrapper>
  )
}
