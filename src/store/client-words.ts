import type { Db } from '../database/database.ts'
import { join, sql, type Sql } from '../database/sql.ts'
import { columnsFor, insertRows } from './rows.ts'

/** The ids of clients for whom every word of the text begins a word of their name or address. */
export function clientsNamed(businessId: number, text: string): Sql {
  const words = searchWordsOf(text)
  if (words.length === 0) return sql`select null::bigint where false`
  return join(
    words.map((word) => clientsWithWords(sql`${businessId}`, [word])),
    ' intersect ',
  )
}

/**
 * The ids of the clients whose name or address has words that begin with these; at least one. The longest
 * one is looked up in the index of words. The others are compared as texts, so that PostgreSQL looks them
 * up by client: without statistics it would read all clients with one word for each client with another.
 */
export function clientsWithWords(businessId: Sql, words: string[]): Sql {
  const [longest, ...others] = words.toSorted((a, b) => b.length - a.length)
  const hasOthers = others.map(
    (word) => sql`and exists (
      select from client_word o
      where o.business_id = ${businessId} and o.client_id = w.client_id
        and left(o.word, ${[...word].length}::int) = ${word})`,
  )
  return sql`
    select w.client_id from client_word w
    where w.business_id = ${businessId} and w.word >= ${longest} and w.word < ${`${longest}\u{10ffff}`}
      ${join(hasOthers, ' ')}`
}

/**
 * The words of a search: lower case, without accents and apostrophes. `O'Brien` is `obrien`, `Żółć`
 * is `zolc`.
 */
export const searchWordsOf = (text: string): string[] => splitWords(text.replace(APOSTROPHES, ''))

/**
 * The words by which a text is found. An apostrophe both joins and separates, and umlauts also have
 * their two-letter spelling: `O'Brien` is found by `obrien` and `brien`, `Müller` by `muller` and
 * `mueller`.
 */
export function searchableWordsOf(text: string): string[] {
  const joined = text.normalize('NFC').replace(APOSTROPHES, '')
  const spelled = joined.replace(/[äöüøåæœ]/giu, (letter) => SPELLED[letter.toLowerCase()]!)
  const separated = text.replace(APOSTROPHES, ' ')
  return [...new Set([joined, spelled, separated].flatMap(splitWords))]
}

const APOSTROPHES = /['’‘ʼʻ`´＇]/gu

const SPELLED: Record<string, string> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  ø: 'oe',
  å: 'aa',
  æ: 'ae',
  œ: 'oe',
}

function splitWords(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ł', 'l')
    .replaceAll('ø', 'o')
    .replaceAll('ß', 'ss')
    .replaceAll('đ', 'd')
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  return [...new Set(words)].slice(0, 20)
}

type NamedClient = {
  clientId: number
  firstName: string
  lastName: string
  emailAddress: string | null
}

/** Replaces the search words of saved clients. */
export function replaceClientWords(tx: Db, businessId: number, clients: NamedClient[]) {
  const words = clients.flatMap((client) =>
    searchableWordsOf(`${client.firstName} ${client.lastName} ${client.emailAddress ?? ''}`).map(
      (word) => ({ businessId, word, clientId: client.clientId }),
    ),
  )
  return Promise.all([
    tx.query(sql`
      delete from client_word
      where business_id = ${businessId}
        and client_id = any (${clients.map((client) => client.clientId)}::bigint[])`),
    tx.query(insertRows('client_word', COLUMNS, words)),
  ])
}

const COLUMNS = columnsFor<{ businessId: number; word: string; clientId: number }>({
  businessId: 'bigint',
  word: 'text',
  clientId: 'bigint',
})
