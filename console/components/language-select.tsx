import { Select, type SelectProps } from '@mantine/core'
import type { At } from '../records/use-record.ts'
import { COMMON_LANGUAGES, languageName } from '../templates/languages.ts'

type Props = At<string | null> & Pick<SelectProps, 'label' | 'description' | 'readOnly'>

/** A language by its name. The present value stays in the list, whatever it is. */
export function LanguageSelect({ value, ...props }: Props) {
  const offered = new Set([...(value ? [value] : []), ...COMMON_LANGUAGES, ...OTHERS])
  return (
    <Select
      {...props}
      searchable
      clearable
      value={value}
      data={[...offered]
        .map((tag) => ({ value: tag, label: languageName(tag) }))
        .toSorted((a, b) => a.label.localeCompare(b.label))}
    />
  )
}

const OTHERS = (
  'bg bs ca cs da de-AT de-CH el en-GB en-US et eu fa fi fr-CA fr-CH he hi hr hu id is it-CH ja ko ' +
  'lt lv mk ms nb pt-BR pt-PT rm ro ru sk sl sq sr sv ta th ti vi zh'
).split(' ')
