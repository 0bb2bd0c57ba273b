import { ActionIcon, Button, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Draft } from './draft.ts'
import classes from './editor.module.css'
import { readTags } from './sentence.ts'

type Line = { tag: string; values: string }

/** Tags that the appointment or its client must have; a line without values is ignored. */
export function TagFields({ draft, onChange }: { draft: Draft; onChange: (draft: Draft) => void }) {
  const { t } = useTranslation()
  const [lines, setLines] = useState<Line[]>(() => linesOf(draft.filterTagMapJson))
  const set = (changed: Line[]) => {
    setLines(changed)
    onChange({ ...draft, filterTagMapJson: jsonOf(changed) })
  }
  const setLine = (place: number, line: Partial<Line>) =>
    set(lines.map((one, i) => (i === place ? { ...one, ...line } : one)))
  return (
    <div className="column">
      {lines.map(({ tag, values }, place) => (
        <div key={place} className={classes.tagLine}>
          <TextInput
            aria-label={t('editor.tag')}
            placeholder={t('editor.tag')}
            value={tag}
            onChange={(event) => setLine(place, { tag: event.currentTarget.value })}
          />
          <TextInput
            aria-label={t('editor.tagValues')}
            placeholder={t('editor.tagValuesHint')}
            value={values}
            onChange={(event) => setLine(place, { values: event.currentTarget.value })}
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
        onClick={() => setLines([...lines, { tag: '', values: '' }])}
      >
        {t('editor.tagAdd')}
      </Button>
    </div>
  )
}

function linesOf(filterTagMapJson: string | null): Line[] {
  const tags = Object.entries(readTags(filterTagMapJson))
  const lines = tags.map(([tag, values]) => ({ tag, values: values.join(', ') }))
  return lines.length > 0 ? lines : [{ tag: '', values: '' }]
}

function jsonOf(lines: Line[]): string | null {
  const tags = lines.flatMap(({ tag, values }) => {
    const words = values.split(',').map((value) => value.trim())
    const given = words.filter((value) => value !== '')
    return tag.trim() === '' || given.length === 0 ? [] : [[tag.trim(), given] as const]
  })
  return tags.length === 0 ? null : JSON.stringify(Object.fromEntries(tags))
}
