import {
  NumberInput,
  Textarea,
  TextInput,
  type NumberInputProps,
  type TextareaProps,
  type TextInputProps,
} from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { useSession } from '../api/session.ts'
import { placeOf } from '../components/time.ts'
import { TimeZoneSelect } from '../components/time-zone-select.tsx'
import type { At } from '../records/use-record.ts'

type Props<Value, InputProps> = At<Value> & Omit<InputProps, keyof At<Value>>

/** A line that must not be empty; without it the service says so. */
export function NameField({ onChange, ...props }: Props<string, TextInputProps>) {
  return <LineField {...props} required onChange={(value) => onChange(value ?? '')} />
}

/** A line that may be empty. */
export function LineField({ value, onChange, ...props }: Props<string | null, TextInputProps>) {
  return (
    <TextInput
      dir="auto"
      autoComplete="off"
      {...props}
      value={value ?? ''}
      onChange={(event) => onChange(orNull(event.currentTarget.value))}
    />
  )
}

export function TextField({ value, onChange, ...props }: Props<string | null, TextareaProps>) {
  return (
    <Textarea
      dir="auto"
      autosize
      minRows={2}
      maxRows={8}
      {...props}
      value={value ?? ''}
      onChange={(event) => onChange(orNull(event.currentTarget.value))}
    />
  )
}

/** Spaces alone are not a text. */
const orNull = (text: string) => (text.trim() === '' ? null : text)

export function NumberField({ value, onChange, ...props }: Props<number | null, NumberInputProps>) {
  // What was typed, such as "92.": as a number it would lose its point.
  const [typed, setTyped] = useState<string | number>(value ?? '')
  return (
    <NumberInput
      min={0}
      hideControls
      {...props}
      value={numberOf(typed) === value ? typed : (value ?? '')}
      onChange={(given) => {
        setTyped(given)
        onChange(numberOf(given))
      }}
    />
  )
}

const numberOf = (typed: string | number) => (typed === '' ? null : Number(typed))

type TimeZoneProps = At<string | null> & { description: string }

/** Empty means the time zone of the business. */
export function TimeZoneField(props: TimeZoneProps) {
  const { t } = useTranslation()
  const { timeZone } = useSession().business
  return (
    <TimeZoneSelect
      {...props}
      placeholder={t('settings.setup.asBusiness', { place: placeOf(timeZone) })}
      clearable
      clearButtonProps={{ 'aria-label': t('settings.setup.clearTimeZone') }}
    />
  )
}
