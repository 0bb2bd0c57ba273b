import { ActionIcon, Button, Input, TextInput } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import type { Professional } from '../api/setup.ts'
import { IconPlus, IconX } from '../components/icons.tsx'
import type { At, Fault } from '../records/use-record.ts'
import classes from './setup.module.css'

type WorkingException = Professional['workingExceptions'][number]

type Props = Omit<At<WorkingException[]>, 'error'> & { faults: Fault[] }

/** Days off, and days with other hours than usual: one row for each. */
export function WorkingExceptionsField({ value, faults, onChange }: Props) {
  const { t } = useTranslation()
  return (
    <Input.Wrapper
      component="fieldset"
      className={classes.hours}
      label={t('settings.setup.fields.workingExceptions')}
      labelElement="div"
      description={t('daysOff.hint')}
      error={textOf(faults.filter(({ pointer }) => !/\d/.test(pointer)))}
    >
      {value.map((entry, place) => (
        <Row
          key={place}
          entry={entry}
          faultAt={(part) =>
            textOf(faults.filter(({ pointer }) => pointer.endsWith(`/${place}/${part}`)))
          }
          onChange={(more) => onChange(value.with(place, { ...entry, ...more }))}
          onRemove={() => onChange(value.toSpliced(place, 1))}
        />
      ))}
      <Button
        variant="default"
        size="xs"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => onChange([...value, { startDate: '' }])}
      >
        {t('daysOff.add')}
      </Button>
    </Input.Wrapper>
  )
}

const textOf = (faults: Fault[]) => faults.map(({ detail }) => detail).join('; ')

type RowProps = {
  entry: WorkingException
  faultAt: (part: keyof WorkingException) => string
  onChange: (more: Partial<WorkingException>) => void
  onRemove: () => void
}

/** The first and the last day; with times, the hours on these days. */
function Row({ entry, faultAt, onChange, onRemove }: RowProps) {
  const { t } = useTranslation()
  const input = (name: keyof typeof TYPES) => (
    <TextInput
      type={TYPES[name]}
      label={t(`daysOff.${name}`)}
      value={entry[name] ?? ''}
      error={faultAt(name)}
      onChange={({ currentTarget: { value } }) =>
        onChange({ [name]: name === 'startDate' ? value : value || null })
      }
    />
  )
  return (
    <div className={classes.span} role="group" aria-label={t('daysOff.row')}>
      {input('startDate')}
      {input('endDate')}
      {input('from')}
      {input('to')}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={t('daysOff.remove', { day: entry.startDate })}
        onClick={onRemove}
      >
        <IconX size={15} aria-hidden />
      </ActionIcon>
    </div>
  )
}

const TYPES = { startDate: 'date', endDate: 'date', from: 'time', to: 'time' } as const

/** "2026-12-24 – 2026-12-26, 2026-12-31 09:00–12:00" */
export const exceptionsInWords = (entries: WorkingException[]) =>
  entries
    .map(({ startDate, endDate, from, to }) =>
      [endDate ? `${startDate} – ${endDate}` : startDate, from && `${from}–${to ?? ''}`]
        .filter(Boolean)
        .join(' '),
    )
    .join(', ')
