import { parseAddress } from '../contract/addresses.ts'
import type { Db } from '../database/database.ts'
import {
  listClientsMeant,
  listNamedObjects,
  NAMED_KINDS,
  type ClientLookup,
  type NamedKind,
  type NamedObject,
} from '../store/named-objects.ts'
import { searchWordsOf } from '../store/client-words.ts'
import { isSliceOver, nextSlice } from '../time-slice.ts'
import { nameKey } from './people.ts'
import { plainText } from './plain.ts'

/*
 * Which client, member of staff, service or location a name or an address of another system means. Files
 * and feeds use the same rules: an address identifies, a name only if one object has it.
 */

/** What another system says about an object. Empty texts are unknown. */
export type Described = {
  kind: NamedKind
  name: string
  emailAddress: string
  /** Their id in the other system, which is our externalId. */
  externalId?: string
}

/** The object, or several of the same name that a person has to choose from. */
export type Match = { found: NamedObject } | { among: NamedObject[] } | undefined

/** Equal descriptions have equal keys. */
export function keyOf({ kind, name, emailAddress, externalId }: Described) {
  if (externalId) return `${kind} #${externalId}`
  const address = addressKey(emailAddress)
  return `${kind} ${address ? `<${address}>` : keyOfName(kind, name)}`
}

const addressKey = (address: string | null) =>
  (address && parseAddress(address)?.toLowerCase()) || undefined

const keyOfName = (kind: NamedKind, name: string) =>
  kind === 'client' || kind === 'professional' ? nameKey(name) : plainText(name)

const PAGE = 5_000

/** So few clients are looked up; of more, all clients are read. */
const MAX_LOOKED_UP = 1_000

/**
 * The objects of a business that may be meant: all except clients that nobody described. Clients with one
 * of `clientIds` are among them.
 */
export async function readDirectory(
  db: Db,
  businessId: number,
  described: Iterable<Described>,
  clientIds: number[] = [],
) {
  const wanted = new Set<string>()
  const wantedIds = new Set(clientIds)
  const lookup: ClientLookup = { ids: clientIds, words: [], externalIds: [] }
  let people = 0
  for (const { kind, name, emailAddress, externalId } of described) {
    if (kind !== 'client') continue
    people += 1
    if (externalId) wanted.add(`#${externalId}`)
    const address = addressKey(emailAddress)
    if (address) wanted.add(`<${address}>`)
    wanted.add(keyOfName(kind, name))
    if (people <= MAX_LOOKED_UP) {
      if (externalId) lookup.externalIds.push(externalId)
      lookup.words.push(...rarestWord(address?.split('@')[0]), ...rarestWord(name))
    }
    if (isSliceOver()) await nextSlice()
  }
  const directory = new Directory()
  if (people <= MAX_LOOKED_UP) {
    for (const client of await listClientsMeant(db, businessId, lookup)) {
      directory.add('client', client)
    }
  }
  for (const kind of NAMED_KINDS) {
    if (kind === 'client' && people <= MAX_LOOKED_UP) continue
    for (let after = 0; ;) {
      const page = await listNamedObjects(db, businessId, kind, { after, limit: PAGE })
      for (const object of page) {
        const isWanted =
          kind !== 'client' ||
          wantedIds.has(object.id) ||
          wanted.has(keyOfName(kind, object.name)) ||
          wanted.has(`#${object.externalId}`) ||
          wanted.has(`<${addressKey(object.emailAddress)}>`)
        if (isWanted) directory.add(kind, object)
        if (isSliceOver()) await nextSlice()
      }
      if (page.length < PAGE) break
      after = page.at(-1)!.id
    }
  }
  return directory
}

/** The longest word is the least frequent one. */
const rarestWord = (text = '') =>
  searchWordsOf(text)
    .toSorted((a, b) => b.length - a.length)
    .slice(0, 1)

export class Directory {
  readonly #byName = new Map<string, NamedObject[]>()
  readonly #byAddress = new Map<string, NamedObject[]>()
  readonly #byExternalId = new Map<string, NamedObject>()
  readonly #byId = new Map<string, NamedObject>()

  add(kind: NamedKind, object: NamedObject) {
    this.#byId.set(`${kind} ${object.id}`, object)
    if (object.externalId) this.#byExternalId.set(`${kind} ${object.externalId}`, object)
    push(this.#byName, `${kind} ${keyOfName(kind, object.name)}`, object)
    const address = addressKey(object.emailAddress)
    if (address) push(this.#byAddress, `${kind} ${address}`, object)
  }

  findById = (kind: NamedKind, id: number) => this.#byId.get(`${kind} ${id}`)

  list = (kind: NamedKind) =>
    [...this.#byId].flatMap(([key, object]) => (key.startsWith(`${kind} `) ? object : []))

  find({ kind, name, emailAddress, externalId }: Described): Match {
    const identified = externalId && this.#byExternalId.get(`${kind} ${externalId}`)
    if (identified) return { found: identified }
    const isNamed = ({ name: known }: NamedObject) =>
      keyOfName(kind, known) === keyOfName(kind, name)
    const address = addressKey(emailAddress)
    const byAddress = address ? (this.#byAddress.get(`${kind} ${address}`) ?? []) : []
    if (byAddress.length > 0) {
      const named = byAddress.filter(isNamed)
      return oneOf(byAddress.length > 1 && named.length > 0 ? named : byAddress)
    }
    const byName = this.#byName.get(`${kind} ${keyOfName(kind, name)}`) ?? []
    // Somebody with another address is another person of the same name.
    const possible = byName.filter((known) => !address || !addressKey(known.emailAddress))
    if (possible.length > 0) return oneOf(possible)
    return kind === 'professional' && !name.includes(' ') ? this.#findByOneWord(name) : undefined
  }

  /** Staff are often listed by their first name alone. */
  #findByOneWord(name: string): Match {
    const word = plainText(name)
    const found = this.list('professional').filter(({ name: known }) =>
      plainText(known).split(' ').includes(word),
    )
    return found.length > 0 && word !== '' ? oneOf(found) : undefined
  }
}

const oneOf = (objects: NamedObject[]): Match =>
  objects.length === 1 ? { found: objects[0]! } : { among: objects }

function push<T>(lists: Map<string, T[]>, key: string, value: T) {
  const list = lists.get(key)
  if (list) list.push(value)
  else lists.set(key, [value])
}
