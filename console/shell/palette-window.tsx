import { useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { createSpotlight, Spotlight } from '@mantine/spotlight'
import {
  IconBolt,
  IconCalendar,
  IconChartBar,
  IconKeyboard,
  IconLogout,
  IconMail,
  IconMoon,
  IconPlayerPause,
  IconPlus,
  IconSearch,
  IconSettings,
  IconSun,
  IconTemplate,
  IconUser,
} from '../components/icons.tsx'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState, type MouseEvent, type ReactNode } from 'react'
import { useTranslation } from '../texts/translate.ts'
import '@mantine/spotlight/styles.css'
import { reportsQuery } from '../api/reports.ts'
import { searchQuery, type Found } from '../api/search.ts'
import { useSession } from '../api/session.ts'
import { useTimeFormat } from '../components/time.ts'
import { NAVIGATION, type NavigationItem } from './navigation.ts'
import classes from './palette-window.module.css'
import { commandKey } from './platform.ts'
import { pagePathOf, NEW_APPOINTMENT, NEW_AUTOMATION } from './places.ts'
import { addRecent, readRecent } from './recent.ts'
import { SETTINGS_PAGES } from './settings-pages.ts'

export type PaletteProps = {
  pages: NavigationItem[]
  onHelp: () => void
  onSignOut: () => void
}

/** A line of the palette. */
type Item = {
  key: string
  icon: ReactNode
  label: string
  detail?: string | undefined
  /** Other words that find it. */
  words?: string
  keys?: string[]
  /** The text direction follows the name. */
  isName?: boolean
  act: (open: (href: string) => void) => void
}
type Modifiers = { metaKey: boolean; ctrlKey: boolean }
type Group = { name: string; items: Item[] }

const ICON = { size: 17, stroke: 1.7, 'aria-hidden': true } as const
const ICON_OF_KIND = {
  client: IconUser,
  calendar: IconCalendar,
  eventTrigger: IconMail,
  eventDefinition: IconBolt,
  emailTemplate: IconTemplate,
}
const KINDS = Object.keys(ICON_OF_KIND) as Found['kind'][]

const TYPING_MS = 150
/** Few of each kind, so that actions are visible too. */
const MAX_CLIENTS = 5
const MAX_OTHERS = 3

const [store, palette] = createSpotlight()

function selectFirst() {
  const list = document.getElementById(store.getState().listId)
  list?.querySelector('[data-selected]')?.removeAttribute('data-selected')
  list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true')
  store.updateState((state) => ({ ...state, selected: 0 }))
}

/** Opens pages, finds objects and runs actions by typing. */
export function PaletteWindow(props: PaletteProps) {
  const { t } = useTranslation()
  const { functions } = useSession()
  const [query, setQuery] = useState('')
  const [text] = useDebouncedValue(query.trim(), TYPING_MS)
  const isSearching = query.trim() !== '' && functions.includes('VIEW_SCHEDULE')
  const { data: found } = useQuery(searchQuery(isSearching ? text : ''))
  const groups = useGroups(props, query, isSearching ? (found ?? []) : [])
  const open = useOpen()
  // The click that Enter causes has no modifiers, so the held ones are stored.
  const held = useRef<Modifiers>({ metaKey: false, ctrlKey: false })
  const hold = ({ metaKey, ctrlKey }: Modifiers) => (held.current = { metaKey, ctrlKey })
  const choose = (item: Item, event: MouseEvent) =>
    item.act(open(event.detail === 0 ? held.current : event))
  useEffect(() => palette.open(), [])
  // Search results come first, so the first line has changed.
  useEffect(() => void (query && selectFirst()), [found, query])
  return (
    <Spotlight.Root
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      size={640}
      yOffset={90}
      maxHeight={440}
      scrollable
      overlayProps={{ backgroundOpacity: 0.32, blur: 0 }}
      transitionProps={{ duration: 0 }}
      radius="lg"
      classNames={{ content: classes.window! }}
    >
      <Spotlight.Search
        classNames={{ input: classes.search! }}
        onKeyDown={hold}
        onKeyUp={hold}
        leftSection={<IconSearch size={19} aria-hidden />}
        rightSection={<kbd>Esc</kbd>}
        rightSectionWidth={58}
        placeholder={t('palette.placeholder')}
        aria-label={t('palette.placeholder')}
      />
      <Spotlight.ActionsList className={classes.list!}>
        {groups.map(({ name, items }) => (
          <Spotlight.ActionsGroup key={name} label={name} className={classes.group!}>
            {items.map((item) => (
              <PaletteItem key={item.key} item={item} onChosen={choose} />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 && <Spotlight.Empty>{t('palette.nothing')}</Spotlight.Empty>}
      </Spotlight.ActionsList>
      <Footer onHelp={props.onHelp} />
    </Spotlight.Root>
  )
}

/** The keys of the palette. */
function Footer({ onHelp }: Pick<PaletteProps, 'onHelp'>) {
  const { t } = useTranslation()
  const openHelp = () => {
    palette.close()
    onHelp()
  }
  return (
    <Spotlight.Footer className={classes.footer}>
      <span>
        <kbd>↑</kbd> <kbd>↓</kbd> {t('palette.choose')}
      </span>
      <span>
        <kbd>↵</kbd> {t('words.openInSentence')}
      </span>
      <span className={classes.newTab}>
        <kbd>{commandKey()}</kbd> <kbd>↵</kbd> {t('palette.openInNewTab')}
      </span>
      <span className="grow" />
      <button type="button" className={classes.help} onClick={openHelp}>
        <kbd>?</kbd> {t('keys.title')}
      </button>
    </Spotlight.Footer>
  )
}

type PaletteItemProps = { item: Item; onChosen: (item: Item, event: MouseEvent) => void }

function PaletteItem({ item, onChosen }: PaletteItemProps) {
  return (
    <Spotlight.Action className={classes.line!} onClick={(event) => onChosen(item, event)}>
      <span className={classes.icon}>{item.icon}</span>
      <span className={`ellipsis ${classes.label}`} dir={item.isName ? 'auto' : undefined}>
        {item.label}
      </span>
      <span className="soft small ellipsis grow" dir={item.isName ? 'auto' : undefined}>
        {item.detail}
      </span>
      {item.keys?.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </Spotlight.Action>
  )
}

function useGroups(props: PaletteProps, query: string, found: Found[]): Group[] {
  const { t } = useTranslation()
  const { userId } = useSession()
  const describe = useDescription()
  const typed = splitWords(query)
  /** Each typed word begins a word of the line or of its other names. */
  const matches = ({ label, words = '' }: Item) => {
    const known = splitWords(`${label} ${words}`)
    return typed.every((word) => known.some((one) => one.startsWith(word)))
  }
  const itemOf = (one: Pick<Found, 'kind' | 'id' | 'title'>, detail?: string): Item => {
    const Icon = ICON_OF_KIND[one.kind]
    return {
      key: `${one.kind} ${one.id}`,
      icon: <Icon {...ICON} />,
      label: one.title,
      detail,
      isName: true,
      act: (open) => {
        addRecent(userId, one)
        open(pagePathOf(one))
      },
    }
  }
  const pages = props.pages.map((page): Item => ({
    key: page.name,
    icon: <page.icon {...ICON} />,
    label: t(`navigation.${page.name}`),
    keys: ['G', page.key.toUpperCase()],
    act: (open) => open(page.path),
  }))
  const recent = readRecent(userId).map((one) => itemOf(one, t(`palette.one.${one.kind}`)))
  return [
    ...KINDS.map((kind) => ({
      name: t(`palette.kinds.${kind}`),
      items: found
        .filter((one) => one.kind === kind)
        .slice(0, kind === 'client' ? MAX_CLIENTS : MAX_OTHERS)
        .map((one) => itemOf(one, describe(one))),
    })),
    { name: t('palette.recent'), items: query.trim() === '' ? recent : [] },
    { name: t('words.goTo'), items: [...pages, ...useSettingsPages(query)].filter(matches) },
    {
      name: t('navigation.reports'),
      items: useReports(query).filter(matches).slice(0, MAX_OTHERS),
    },
    {
      name: t('palette.do'),
      items: [...useBooking(found[0]), ...useActions(props).filter(matches)],
    },
  ].filter(({ items }) => items.length > 0)
}

/** "Book an appointment for Olivia O’Neill", if a client is found first. */
function useBooking(first: Found | undefined): Item[] {
  const { t } = useTranslation()
  const { functions } = useSession()
  if (first?.kind !== 'client' || !functions.includes('EDIT_SCHEDULE')) return []
  return [
    {
      key: 'book for client',
      icon: <IconPlus {...ICON} />,
      label: t('palette.bookFor', { name: first.title }),
      isName: true,
      act: (open) => open(`${NEW_APPOINTMENT}&client=${first.id}`),
    },
  ]
}

const splitWords = (text: string) =>
  text
    .toLowerCase()
    .split(/[\s,./–-]+/)
    .filter((word) => word !== '')

/** The pages of the settings, once something is typed. */
function useSettingsPages(query: string): Item[] {
  const { t } = useTranslation()
  const { functions } = useSession()
  if (query.trim() === '') return []
  return SETTINGS_PAGES.filter(
    ({ name, needs }) =>
      functions.includes(needs) && !NAVIGATION.some((page) => page.name === name),
  ).map(({ name, path }) => ({
    key: `settings ${name}`,
    icon: <IconSettings {...ICON} />,
    label: t(`settings.${name}.title`),
    detail: t('settings.label'),
    words: t(`palette.words.${name}`),
    act: (open) => open(path),
  }))
}

/** The reports, once something is typed: they would hide the other lines. */
function useReports(query: string): Item[] {
  const { functions } = useSession()
  const isAsked = query.trim() !== '' && functions.includes('PRINT_REPORTS')
  const { data: topics = [] } = useQuery({ ...reportsQuery, enabled: isAsked })
  if (!isAsked) return []
  return topics.flatMap(({ reports }) =>
    reports.map(({ reportId, reportName, description }) => ({
      key: `report ${reportId}`,
      icon: <IconChartBar {...ICON} />,
      label: reportName,
      detail: description,
      act: (open) => open(`/reports/${reportId}`),
    })),
  )
}

/** Opens the chosen page in this tab, or in a new one if Cmd or Ctrl is held. */
function useOpen() {
  const { basepath, navigate } = useRouter()
  return ({ metaKey, ctrlKey }: Modifiers) =>
    metaKey || ctrlKey
      ? (href: string) => void window.open(basepath + href, '_blank', 'noopener')
      : (href: string) => void navigate({ href })
}

function useDescription() {
  const { t } = useTranslation()
  const format = useTimeFormat()
  return ({ kind, detail, time }: Found) => {
    const when = time === null ? undefined : format.moment(time)
    if (kind === 'client') return when ? t('palette.nextVisit', { when }) : (detail ?? undefined)
    const parts = kind === 'eventTrigger' ? [detail, when] : [when, detail]
    return parts.filter(Boolean).join(' · ')
  }
}

function useActions({ onHelp, onSignOut }: PaletteProps): Item[] {
  const { t } = useTranslation()
  const { business, functions } = useSession()
  const { setColorScheme } = useMantineColorScheme()
  const isDark = useComputedColorScheme('light') === 'dark'
  const actions: (Item | false)[] = [
    functions.includes('EDIT_SCHEDULE') && {
      key: 'book',
      icon: <IconPlus {...ICON} />,
      label: t('palette.book'),
      keys: ['B'],
      act: (open) => open(NEW_APPOINTMENT),
    },
    functions.includes('EDIT_DEFINITIONS') && {
      key: 'new-automation',
      icon: <IconBolt {...ICON} />,
      label: t('words.newAutomation'),
      keys: ['N'],
      act: (open) => open(NEW_AUTOMATION),
    },
    functions.includes('EDIT_BUSINESS') && {
      key: 'pause',
      icon: <IconPlayerPause {...ICON} />,
      label: t(business.mailPaused ? 'palette.resumeMail' : 'palette.pauseMail'),
      detail: t('settings.business.title'),
      words: t('palette.words.pause'),
      act: (open) => open('/settings/business'),
    },
    {
      key: 'scheme',
      icon: isDark ? <IconSun {...ICON} /> : <IconMoon {...ICON} />,
      label: t(isDark ? 'account.useLight' : 'account.useDark'),
      act: () => setColorScheme(isDark ? 'light' : 'dark'),
    },
    {
      key: 'keys',
      icon: <IconKeyboard {...ICON} />,
      label: t('keys.title'),
      keys: ['?'],
      act: onHelp,
    },
    {
      key: 'sign-out',
      icon: <IconLogout {...ICON} />,
      label: t('account.signOut'),
      act: onSignOut,
    },
  ]
  return actions.filter((item) => item !== false)
}
