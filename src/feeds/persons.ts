import { parseAddress } from '../contract/addresses.ts'
import type { DescribedPerson } from '../matching/creation.ts'
import { keyOf, type Described } from '../matching/directory.ts'
import { fullName, readPerson } from '../matching/people.ts'
import { plainText } from '../matching/plain.ts'
import type { Attendee, Entry, SourcePerson, SourceThing } from './source.ts'
import { safeKey } from './stored-entry.ts'

/** Addresses of people who are known by their telephone number. They get no mail. */
const UNMAILABLE = /@sms\.cal\.com$/i

/** A client as a source names them, and the key of the match. */
export type NamedClient = { key: string; person: SourcePerson; described: DescribedPerson }

/**
 * The clients of an entry: those that the source calls so, else its outside attendees, else the only
 * outside address in its text, else the name that a rule finds in its title.
 */
export function clientsOf(
  entry: Entry,
  { isStaff, titleName }: { isStaff(address: string): boolean; titleName: string | undefined },
): NamedClient[] {
  const isOutside = (address: string | undefined) =>
    address !== undefined && !isStaff(address) && address !== addressOf(entry.organizer ?? {})
  const candidates = [
    entry.clients,
    entry.attendees.filter((one) => isPerson(one) && isOutside(addressOf(one))),
    onlyAddressIn(entry, isOutside),
    titleName === undefined ? [] : [personNamed(titleName)],
  ]
  const people = candidates.find((some) => some.length > 0) ?? []
  const clients = people.map(nameClient).filter(({ described }) => isNamed(described))
  return [...new Map(clients.map((client) => [client.key, client])).values()]
}

/** All clients that an entry could mean, for looking them up. */
export const clientsNamedIn = (entry: Entry, titleNames: string[]): NamedClient[] =>
  [
    ...entry.clients,
    ...entry.attendees,
    ...addressesIn(entry).map((emailAddress) => ({ emailAddress })),
    ...titleNames.map(personNamed),
  ].map(nameClient)

const isPerson = ({ type = 'INDIVIDUAL' }: Attendee) => type === 'INDIVIDUAL' || type === 'UNKNOWN'

const isNamed = ({ name, emailAddress, externalId }: Described) =>
  name !== '' || emailAddress !== '' || externalId !== undefined

export const addressOf = ({ emailAddress = '' }: Pick<SourcePerson, 'emailAddress'>) =>
  UNMAILABLE.test(emailAddress) ? undefined : parseAddress(emailAddress)?.toLowerCase()

function addressesIn({ addressesInText, title }: Entry) {
  const inTitle = readPerson(title ?? '').emailAddress
  const all = [...addressesInText, inTitle].flatMap(
    (emailAddress) => addressOf({ emailAddress }) ?? [],
  )
  return [...new Set(all)]
}

/** The address of the business itself is often in the text, too. */
function onlyAddressIn(entry: Entry, isOutside: (address: string) => boolean): SourcePerson[] {
  const outside = addressesIn(entry).filter(isOutside)
  return outside.length === 1 ? [{ emailAddress: outside[0]! }] : []
}

const personNamed = (text: string): SourcePerson => {
  const { firstName, lastName } = readPerson(text)
  return { firstName, lastName }
}

function nameClient(person: SourcePerson): NamedClient {
  const name = fullName({ firstName: person.firstName ?? '', lastName: person.lastName ?? '' })
  const { firstName, lastName } = readPerson(
    person.firstName && person.lastName ? `${person.lastName},${person.firstName}` : name,
  )
  const described = {
    kind: 'client' as const,
    name: fullName({ firstName, lastName }),
    emailAddress: addressOf(person) ?? '',
    firstName,
    lastName,
    phone: person.phone ?? '',
  }
  return { key: matchKeyOf(described, person.key), person, described }
}

/** The key of a match: the source's own id, else the address, else the name. */
export function matchKeyOf(described: Described, sourceKey: string | undefined) {
  const key = keyOf(sourceKey ? { ...described, externalId: sourceKey } : described)
  return safeKey(key.replace(/^\w+ /, ''))
}

/** A service, member of staff or location as the source names it. */
export function describeThing(
  kind: 'professional' | 'reason' | 'location',
  { key, name = '', emailAddress = '' }: SourceThing,
) {
  const described: Described = { kind, name: name.trim(), emailAddress }
  const isEmpty = !key && plainText(name) === '' && addressOf({ emailAddress }) === undefined
  return isEmpty ? undefined : { key: matchKeyOf(described, key), described }
}
