import { ActionIcon, Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { saveFeed, type Feed, type FeedRun } from '../api/feeds.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { IconChevronDown, IconChevronUp, IconTrash } from '../components/icons.tsx'
import { FormWindow } from '../components/windows.tsx'
import { useTranslation } from '../texts/translate.ts'
import classes from './feeds.module.css'
import { RuleForm } from './rule-form.tsx'
import { useRuleWords, type Rule } from './rule-words.ts'
import { RunButton } from './run-button.tsx'

const MAX_RULES = 200

type Props = {
  feed: Feed
  /** The rules that are not saved yet. */
  edited: Rule[] | undefined
  onChange: (rules: Rule[] | undefined) => void
}

/** The rules of a feed in their order. They are saved after a dry run has shown what they change. */
export function RulesTab({ feed, edited, onChange }: Props) {
  const { t } = useTranslation()
  const rules = edited ?? feed.rules
  const [opened, setOpened] = useState<number>()
  const replace = (place: number, rule: Rule[]) => onChange(rules.toSpliced(place, 1, ...rule))
  const rule = opened === undefined ? undefined : (rules[opened] ?? { when: {}, then: {} })
  return (
    <>
      <p className="soft small">{t('settings.feeds.rules.hint')}</p>
      {rules.length === 0 && <p className="soft">{t('settings.feeds.rules.none')}</p>}
      <ol className={classes.list}>
        {rules.map((one, place) => (
          <RuleRow
            key={`${place} ${JSON.stringify(one)}`}
            rule={one}
            onEdit={() => setOpened(place)}
            onRemove={() => replace(place, [])}
            onDown={
              place < rules.length - 1
                ? () => onChange(rules.toSpliced(place, 2, rules[place + 1]!, one))
                : undefined
            }
            onUp={
              place > 0
                ? () => onChange(rules.toSpliced(place - 1, 2, one, rules[place - 1]!))
                : undefined
            }
          />
        ))}
      </ol>
      <div className={classes.actions} style={{ marginTop: 12 }}>
        <Button
          size="compact-sm"
          variant="default"
          disabled={rules.length >= MAX_RULES}
          onClick={() => setOpened(rules.length)}
        >
          {t('settings.feeds.rules.add')}
        </Button>
      </div>
      {edited && (
        <Unsaved
          // Other rules need another dry run.
          key={JSON.stringify(edited)}
          feed={feed}
          rules={edited}
          onDone={() => onChange(undefined)}
        />
      )}
      <FormWindow
        isOpen={rule !== undefined}
        onClose={() => setOpened(undefined)}
        title={t('settings.feeds.rules.one')}
      >
        {rule && (
          <RuleForm
            rule={rule}
            onDone={(next) => {
              replace(opened!, [next])
              setOpened(undefined)
            }}
          />
        )}
      </FormWindow>
    </>
  )
}

type RowProps = {
  rule: Rule
  onEdit: () => void
  onRemove: () => void
  /** Absent for the first and the last one. */
  onUp: (() => void) | undefined
  onDown: (() => void) | undefined
}

function RuleRow({ rule, onEdit, onRemove, onUp, onDown }: RowProps) {
  const { t } = useTranslation()
  const words = useRuleWords()
  const conditions = words.conditions(rule)
  const name = { name: conditions }
  return (
    <li className={classes.entry}>
      <div className={classes.actions}>
        <div className="grow" style={{ minWidth: 180, overflowWrap: 'anywhere' }}>
          <span className="strong" dir="auto">
            {conditions}
          </span>
          <div className="soft small" dir="auto">
            {words.effects(rule)}
          </div>
        </div>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={!onUp}
          aria-label={t('settings.feeds.rules.up', name)}
          onClick={onUp}
        >
          <IconChevronUp size={15} aria-hidden />
        </ActionIcon>
        <ActionIcon
          variant="subtle"
          color="gray"
          disabled={!onDown}
          aria-label={t('settings.feeds.rules.down', name)}
          onClick={onDown}
        >
          <IconChevronDown size={15} aria-hidden />
        </ActionIcon>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('settings.feeds.rules.editOf', name)}
          onClick={onEdit}
        >
          {t('settings.feeds.change')}
        </Button>
        <ActionIcon
          variant="subtle"
          color="clay"
          aria-label={t('settings.feeds.rules.removeOf', name)}
          onClick={onRemove}
        >
          <IconTrash size={15} aria-hidden />
        </ActionIcon>
      </div>
    </li>
  )
}

type UnsavedProps = { feed: Feed; rules: Rule[]; onDone: () => void }

/** A dry run of the changed rules, then the button that saves them. */
function Unsaved({ feed, rules, onDone }: UnsavedProps) {
  const { t } = useTranslation()
  const [run, setRun] = useState<FeedRun>()
  const save = useMutation({
    mutationFn: () => saveFeed({ feedId: feed.feedId, rules }),
    onSuccess: onDone,
  })
  const { created = 0, changed = 0, cancelled = 0 } = run?.counts ?? {}
  return (
    <section className={classes.unsaved} aria-label={t('settings.feeds.rules.unsaved')}>
      <p className="amber small">{t('settings.feeds.rules.unsaved')}</p>
      <div className={classes.actions}>
        <RunButton feed={feed} action="dryRun" rules={rules} onEnded={setRun} />
        {run?.status === 'DONE' && (
          <Button size="compact-sm" loading={save.isPending} onClick={() => save.mutate()}>
            {t('settings.feeds.rules.save', { count: created + changed + cancelled })}
          </Button>
        )}
        <Button size="compact-sm" variant="subtle" color="var(--ink)" onClick={onDone}>
          {t('settings.feeds.rules.discard')}
        </Button>
        {save.error && (
          <span role="alert" className="small clay">
            <ErrorMessage error={save.error} />
          </span>
        )}
      </div>
    </section>
  )
}
