import {
  Button,
  Checkbox,
  MultiSelect,
  NumberInput,
  Radio,
  SegmentedControl,
  Select,
} from '@mantine/core'
import { IconPlus, IconTrash } from '../components/icons.tsx'
import { Trans } from '../texts/trans.tsx'
import { useTranslation } from '../texts/translate.ts'
import type { RecipientValue } from '../../src/contract/event-action.ts'
import { CHANGES, changesOf, type WatchedChange } from '../../src/contract/event-type.ts'
import type { Setup } from '../api/setup.ts'
import { OCCASIONS, withOccasion, type Draft, type DraftMail, type Occasion } from './draft.ts'
import classes from './editor.module.css'
import { FilterTags } from './filter-tags.tsx'
import {
  changeName,
  occasionKey,
  timingWords,
  type OccasionKey,
  type Unit,
  type Word,
} from './sentence.ts'
import { offsetOf, readOffset, type Direction } from './timing.ts'

type DrawerProps = { draft: Draft; setup: Setup; onChange: (draft: Draft) => void }

type Props = DrawerProps & { word: Word; onClose: () => void }

/** The choices for one word of the sentence. */
export function WordDrawer({ word, onClose, ...props }: Props) {
  const { t } = useTranslation()
  return (
    <>
      <DrawerFields word={word} {...props} />
      <div className={classes.drawerEnd}>
        <Button size="compact-sm" variant="default" onClick={onClose}>
          {t('editor.done')}
        </Button>
      </div>
    </>
  )
}

function DrawerFields({ word, ...props }: DrawerProps & { word: Word }) {
  const { setup } = props
  switch (word.name) {
    case 'timing':
      return <TimingDrawer {...props} />
    case 'occasion':
      return <OccasionDrawer {...props} />
    case 'status':
      return <StatusDrawer {...props} />
    case 'locations':
      return (
        <SelectionDrawer
          {...props}
          what="locations"
          list="locationIdList"
          choices={setup.locations.map(({ locationId, name }) => ({ id: locationId, name }))}
        />
      )
    case 'staff':
      return (
        <SelectionDrawer
          {...props}
          what="staff"
          list="professionalIdList"
          choices={setup.professionals.map(({ professionalId, firstName, lastName }) => ({
            id: professionalId,
            name: `${firstName} ${lastName}`,
          }))}
        />
      )
    case 'services':
      return (
        <SelectionDrawer
          {...props}
          what="services"
          list="reasonIdList"
          choices={setup.services.map(({ reasonId, name }) => ({ id: reasonId, name }))}
        />
      )
    case 'tags':
      return <FilterTags {...props} />
    case 'recipient':
      return <RecipientDrawer {...props} mail={word.mail ?? 0} />
    case 'template':
      return <TemplateDrawer {...props} mail={word.mail ?? 0} />
  }
}

const UNITS: Unit[] = ['minute', 'hour', 'day', 'week', 'month']
const REMINDER_OFTEN = [0, -2, -24, -48, -168]
const EVENT_OFTEN = [0, 2, 24, 48, 168]

function TimingDrawer({ draft, onChange }: DrawerProps) {
  const { t } = useTranslation()
  const { amount, unit, direction } = readOffset(draft)
  const isEvent = draft.eventType.eventCategory === 'EVENT'
  const set = (changed: { amount?: number; unit?: Unit; direction?: Direction }) =>
    onChange({ ...draft, ...offsetOf({ amount, unit, direction, ...changed }) })
  const directions: Direction[] = isEvent ? ['at', 'after'] : ['before', 'at', 'after']
  return (
    <>
      <div className={classes.timing}>
        <div className="column">
          <div className="row">
            <NumberInput
              aria-label={t('editor.timing.amount')}
              w={84}
              min={1}
              max={999}
              allowDecimal={false}
              allowNegative={false}
              disabled={direction === 'at'}
              value={amount}
              onChange={(value) => Number(value) > 0 && set({ amount: Number(value) })}
            />
            <Select
              aria-label={t('editor.timing.unit')}
              className="grow"
              allowDeselect={false}
              disabled={direction === 'at'}
              data={UNITS.map((value) => ({ value, label: t(`editor.timing.units.${value}`) }))}
              value={unit}
              onChange={(value) => value && set({ unit: value as Unit })}
            />
          </div>
          <SegmentedControl
            aria-label={t('editor.timing.direction')}
            fullWidth
            transitionDuration={0}
            data={directions.map((value) => ({ value, label: t(`editor.timing.${value}`) }))}
            value={direction}
            onChange={(value) => set({ direction: value as Direction })}
          />
        </div>
        <OffsetMode draft={draft} onChange={onChange} />
      </div>
      <OftenUsed draft={draft} onChange={onChange} />
    </>
  )
}

type OffsetProps = Pick<DrawerProps, 'draft' | 'onChange'>

/** Whether hours are those of the clock, also when it changes. */
function OffsetMode({ draft, onChange }: OffsetProps) {
  const { t } = useTranslation()
  const hours = Math.abs(draft.triggerHours)
  return (
    <Radio.Group
      aria-label={t('editor.timing.mode')}
      value={draft.offsetMode}
      onChange={(value) => onChange({ ...draft, offsetMode: value as Draft['offsetMode'] })}
    >
      <div className="column" style={{ gap: 10 }}>
        <Radio
          size="xs"
          value="CALENDAR"
          label={<Trans i18nKey="editor.timing.calendar" components={{ b: <b /> }} />}
          description={t('editor.timing.calendarHint')}
        />
        <Radio
          size="xs"
          value="ELAPSED"
          label={
            hours > 0 ? (
              <Trans
                i18nKey="editor.timing.elapsed"
                values={{ count: hours }}
                components={{ b: <b /> }}
              />
            ) : (
              <Trans i18nKey="editor.timing.elapsedShort" components={{ b: <b /> }} />
            )
          }
        />
      </div>
    </Radio.Group>
  )
}

function OftenUsed({ draft, onChange }: OffsetProps) {
  const { t } = useTranslation()
  const isEvent = draft.eventType.eventCategory === 'EVENT'
  return (
    <div className={`row small ${classes.often}`}>
      <span className="soft">{t('editor.timing.often')}</span>
      {(isEvent ? EVENT_OFTEN : REMINDER_OFTEN).map((triggerHours) => {
        const offset = { triggerMonths: 0, triggerHours, triggerMinutes: 0 }
        const isAtOnce = triggerHours === 0
        const words = timingWords(offset)
        return (
          <button
            key={triggerHours}
            type="button"
            className="chip"
            aria-pressed={timingWords(draft) === words}
            onClick={() => onChange({ ...draft, ...offset })}
          >
            {isAtOnce ? t('editor.timing.atOnce') : words}
          </button>
        )
      })}
    </div>
  )
}

const GROUPS = ['CALENDAR', 'CLASS_SCHEDULE', 'INVITATION', 'RECALL', 'DISCLAIMER'] as const

function OccasionDrawer({ draft, onChange }: DrawerProps) {
  const { t } = useTranslation()
  const occasions = Object.entries(OCCASIONS) as [OccasionKey, Occasion][]
  return (
    <Radio.Group
      aria-label={t('editor.occasion.title')}
      value={occasionKey(draft)}
      onChange={(key) => onChange(withOccasion(draft, OCCASIONS[key as OccasionKey]))}
    >
      <div className={classes.occasions}>
        {GROUPS.map((group) => (
          <div key={group} className="column" style={{ gap: 9 }}>
            <span className="eyebrow">{t(`editor.occasionGroups.${group}`)}</span>
            {occasions
              .filter(([, { eventType }]) => eventType.objectType === group)
              .map(([key]) => (
                <Radio key={key} size="xs" value={key} label={t(`editor.occasions.${key}`)} />
              ))}
          </div>
        ))}
      </div>
    </Radio.Group>
  )
}

/** Selects need a value for "any"; the API has null. */
const ANY = 'any'

function StatusDrawer({ draft, setup, onChange }: DrawerProps) {
  const { t } = useTranslation()
  const statuses = setup.statuses
    .filter(({ objectType }) => objectType === draft.eventType.objectType)
    .map(({ status, label }) => ({ value: status, label }))
  const changes = changesOf(draft.eventType.objectType)
  const set = (side: 'newStatus' | 'oldStatus') => (value: string | null) =>
    onChange({ ...draft, [side]: value === ANY ? null : value })
  return (
    <div className={classes.fields}>
      <MultiSelect
        label={t('editor.status.changes')}
        placeholder={draft.changes?.length ? '' : t('editor.status.anything')}
        openOnFocus={false}
        clearable
        data={CHANGES.filter((one) => changes.includes(one)).map((value) => ({
          value,
          label: changeName(value),
        }))}
        value={draft.changes ?? []}
        onChange={(chosen) => onChange({ ...draft, changes: chosen as WatchedChange[] })}
      />
      <Select
        label={t('editor.status.to')}
        allowDeselect={false}
        searchable
        openOnFocus={false}
        data={[
          { value: ANY, label: t('editor.status.anyChange') },
          { value: '*', label: t('editor.status.anyOther') },
          ...statuses,
        ]}
        value={draft.newStatus ?? ANY}
        onChange={set('newStatus')}
      />
      <Select
        label={t('editor.status.from')}
        allowDeselect={false}
        searchable
        openOnFocus={false}
        data={[{ value: ANY, label: t('editor.status.any') }, ...statuses]}
        value={draft.oldStatus === '*' ? ANY : (draft.oldStatus ?? ANY)}
        onChange={set('oldStatus')}
      />
    </div>
  )
}

type SelectionProps = DrawerProps & {
  what: 'locations' | 'staff' | 'services'
  list: 'locationIdList' | 'professionalIdList' | 'reasonIdList'
  choices: { id: number; name: string }[]
}

/** Longer lists are searched instead of ticked. */
const MAX_CHECKBOXES = 12

/** An empty list selects everything. */
function SelectionDrawer({ draft, onChange, what, list, choices }: SelectionProps) {
  const { t } = useTranslation()
  const chosen = draft[list].map(String)
  const set = (ids: string[]) => onChange({ ...draft, [list]: ids.map(Number) })
  const data = choices.map(({ id, name }) => ({ value: String(id), label: name }))
  if (choices.length > MAX_CHECKBOXES) {
    return (
      <MultiSelect
        label={t(`editor.${what}.title`)}
        placeholder={chosen.length === 0 ? t(`editor.${what}.all`) : ''}
        searchable
        openOnFocus={false}
        clearable
        data={data}
        value={chosen}
        onChange={set}
      />
    )
  }
  return (
    <div className={classes.checks} role="group" aria-label={t(`editor.${what}.title`)}>
      <Checkbox
        size="xs"
        label={t(`editor.${what}.all`)}
        checked={chosen.length === 0}
        onChange={() => set([])}
      />
      {data.map(({ value, label }) => (
        <Checkbox
          key={value}
          size="xs"
          label={<span dir="auto">{label}</span>}
          checked={chosen.includes(value)}
          onChange={(event) =>
            set(
              event.currentTarget.checked
                ? [...chosen, value]
                : chosen.filter((one) => one !== value),
            )
          }
        />
      ))}
    </div>
  )
}

const withMail = (draft: Draft, place: number, changed: Partial<DraftMail>): Draft => ({
  ...draft,
  mails: draft.mails.map((mail, i) => (i === place ? { ...mail, ...changed } : mail)),
})

const RECIPIENTS: RecipientValue[] = ['client', 'staff', 'business', 'template']

function RecipientDrawer({ draft, onChange, mail }: DrawerProps & { mail: number }) {
  const { t } = useTranslation()
  return (
    <Radio.Group
      aria-label={t('editor.recipient.title')}
      value={draft.mails[mail]?.recipient.value ?? 'client'}
      onChange={(value) =>
        onChange(withMail(draft, mail, { recipient: { value: value as RecipientValue } }))
      }
    >
      <div className={classes.checks}>
        {RECIPIENTS.map((value) => (
          <Radio key={value} size="xs" value={value} label={t(`sentence.recipients.${value}`)} />
        ))}
      </div>
    </Radio.Group>
  )
}

function TemplateDrawer({ draft, setup, onChange, mail }: DrawerProps & { mail: number }) {
  const { t } = useTranslation()
  const chosen = draft.mails[mail]?.emailTemplateId
  const data = setup.templates.map(({ emailTemplateId, templateName }) => ({
    value: String(emailTemplateId),
    label: templateName,
  }))
  const subject = setup.templates.find((one) => one.emailTemplateId === chosen)?.subject
  if (data.length === 0) return <p className="soft small">{t('editor.template.none')}</p>
  return (
    <div className="column">
      <Select
        label={t('editor.template.title')}
        placeholder={t('words.chooseAMail')}
        searchable
        openOnFocus={false}
        allowDeselect={false}
        data={data}
        value={chosen ? String(chosen) : null}
        onChange={(id) => id && onChange(withMail(draft, mail, { emailTemplateId: Number(id) }))}
      />
      {subject && (
        <div className="faint small" dir="auto">
          {subject}
        </div>
      )}
      <div className="row">
        <Button
          size="compact-sm"
          variant="subtle"
          leftSection={<IconPlus size={14} />}
          onClick={() =>
            onChange({
              ...draft,
              mails: [...draft.mails, { emailTemplateId: null, recipient: { value: 'staff' } }],
            })
          }
        >
          {t('editor.template.add')}
        </Button>
        {draft.mails.length > 1 && (
          <Button
            size="compact-sm"
            variant="subtle"
            color="clay"
            leftSection={<IconTrash size={14} />}
            onClick={() => onChange({ ...draft, mails: draft.mails.filter((_, i) => i !== mail) })}
          >
            {t('editor.template.remove')}
          </Button>
        )}
      </div>
    </div>
  )
}
