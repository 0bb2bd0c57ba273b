import { ActionIcon, Button, TagsInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from '../texts/translate.ts'
import { IconPlus, IconX } from './icons.tsx'
import { linesOf, tagsOf, type TagLine, type Tags } from './tags.ts'

type Props = { value: Tags; onChange: (tags: Tags) => void; hint?: string }

/** Tags with their values; a line without a name or a value is ignored. */
export function TagFields({ value, onChange, hint }: Props) {
  const { t } = useTranslation()
  const [lines, setLines] = useState<TagLine[]>(() => linesOf(value))
  const set = (changed: TagLine[]) => {
    setLines(changed)
    onChange(tagsOf(changed))
  }
  const setLine = (place: number, line: Partial<TagLine>) =>
    set(lines.map((one, i) => (i === place ? { ...one, ...line } : one)))
  return (
    <div className="column">
      {lines.map(({ tag, values }, place) => (
        <div key={place} className="tag-line">
          <TextInput
            aria-label={t('editor.tag')}
            placeholder={t('editor.tag')}
            value={tag}
            onChange={(event) => setLine(place, { tag: event.currentTarget.value })}
          />
          <TagsInput
            aria-label={t('editor.tagValues')}
            placeholder={values.length === 0 ? (hint ?? t('editor.tagValuesHint')) : ''}
            // A comma is part of a value.
            splitChars={[]}
            acceptValueOnBlur
            value={values}
            onChange={(changed) => setLine(place, { values: changed })}
          />
          <ActionIcon
            variant="subtle"
            aria-label={t('editor.tagRemove', { tag })}
            onClick={() => set(lines.filter((_, i) => i !== place))}
          >
            <IconX size={15} />
          </ActionIcon>
        </div>
      ))}
      <Button
        size="compact-sm"
        variant="subtle"
        leftSection={<IconPlus size={14} />}
        style={{ alignSelf: 'flex-start' }}
        onClick={() => setLines([...lines, { tag: '', values: [] }])}
      >
        {t('editor.tagAdd')}
      </Button>
    </div>
  )
}
