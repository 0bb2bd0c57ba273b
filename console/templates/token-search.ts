import type { ObjectType } from '../../src/contract/event-type.ts'
import type { TokenGroup } from '../api/templates.ts'
import type { MenuToken } from './token-menu-state.ts'

type Subject = TokenGroup['objectType']

/** The sections of the list, and the subjects of their tokens. */
const SECTIONS = {
  appointment: ['appointment'],
  class: ['class'],
  invitation: ['invitation'],
  recall: ['recall'],
  disclaimer: ['disclaimer'],
  client: ['client'],
  staffAndService: ['staff', 'service'],
  location: ['location'],
  business: ['business', 'unsubscribe'],
} satisfies Record<string, Subject[]>
export type SectionName = keyof typeof SECTIONS

const SECTION_OF_TYPE: Record<ObjectType, SectionName> = {
  CALENDAR: 'appointment',
  CLASS_SCHEDULE: 'class',
  INVITATION: 'invitation',
  RECALL: 'recall',
  DISCLAIMER: 'disclaimer',
}
const OF_TYPES = new Set<SectionName>(Object.values(SECTION_OF_TYPE))

/** `distinct`: without synonyms. */
export type TokenSection = { name: SectionName; tokens: MenuToken[]; distinct: MenuToken[] }

/** The tokens that a mail about this type of object can have. */
export function sectionsOf(groups: TokenGroup[], objectType: ObjectType): TokenSection[] {
  const own = SECTION_OF_TYPE[objectType]
  const sections = Object.entries(SECTIONS) as [SectionName, Subject[]][]
  return (
    sections
      // The times of a class are also tokens of an appointment.
      .filter(([name]) => !OF_TYPES.has(name) || name === own || isShared(name, own))
      .map(([name, subjects]) => {
        const tokens = groups
          .filter((group) => subjects.includes(group.objectType))
          .flatMap((group) => group.tokens)
          .map(({ token, description, value }) => ({
            name: token.slice(1, -1),
            description,
            value,
          }))
        return { name, tokens, distinct: distinctOf(tokens) }
      })
      .toSorted((a, b) => Number(b.name === own) - Number(a.name === own))
  )
}

const isShared = (name: SectionName, own: SectionName) => name === 'appointment' && own === 'class'

/** Keeps the usual name of several with the same meaning. Usual tokens come first. */
function distinctOf(tokens: MenuToken[]): MenuToken[] {
  const isUsual = ({ name }: MenuToken) => USUAL.has(name)
  const ordered = tokens.toSorted((a, b) => Number(isUsual(b)) - Number(isUsual(a)))
  return ordered.filter(
    ({ description }, index) =>
      ordered.findIndex((token) => token.description === description) === index,
  )
}

const USUAL = new Set([
  'APPT_DATE_LOCATION',
  'APPT_TIME_LOCATION',
  'APPT_DATE',
  'APPT_TIME',
  'APPT_DATE_TIME',
  'APPT_DURATION',
  'CLASS_NAME',
  'CLASS_DATE',
  'CLASS_TIME',
  'CLIENT_FULLNAME',
  'CLIENT_FIRSTNAME',
  'CLIENT_EMAILADDRESS',
  'PROFESSIONAL_FULLNAME',
  'PROFESSIONAL_FIRSTNAME',
  'PROFESSIONAL_LASTNAME',
  'PROFESSIONAL_EMAIL',
  'REASON_NAME',
  'BUSINESS_NAME',
  'BUSINESS_EMAILADDRESS',
])

/** The tokens of a section that contain a text. */
export function findIn({ tokens, distinct }: TokenSection, text: string): MenuToken[] {
  const searchText = text.trim().toLowerCase()
  return searchText === '' ? distinct : tokens.filter((token) => contains(token, searchText))
}

const contains = ({ name, description, value }: MenuToken, searchText: string) =>
  name.toLowerCase().includes(searchText.replaceAll(' ', '_')) ||
  description.toLowerCase().includes(searchText) ||
  value?.toLowerCase().includes(searchText) === true

const MAX_OFFERED = 6

/** The tokens to offer after `%`. Names that begin with the query come first. */
export function offer(sections: TokenSection[], query: string): MenuToken[] {
  const searchText = query.toLowerCase()
  const all = sections.flatMap((section) => findIn(section, searchText))
  const rank = ({ name }: MenuToken) => (name.toLowerCase().startsWith(searchText) ? 0 : 1)
  return all.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_OFFERED)
}
