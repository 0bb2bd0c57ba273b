import type { StatusOutcome } from '../contract/status.ts'
import { plainText } from './plain.ts'

/** A status of the business. */
export type KnownStatus = { status: string; label: string; outcome: StatusOutcome; active: boolean }

const words = (text: string) => text.split(', ').map(plainText)

/** What other software calls the ready-made statuses of appointments, in English, German and French. */
const WORDS: [status: string, outcome: StatusOutcome, words: string[]][] = [
  [
    'OPEN',
    'PENDING',
    words(
      'open, new, pending, booked, scheduled, active, upcoming, tentative, requested, unconfirmed, not confirmed, waiting, offen, neu, ausstehend, gebucht, geplant, aktiv, angefragt, reserviert, vereinbart, unbestätigt, nicht bestätigt, wartend, ouvert, nouveau, en attente, réservé, prévu, planifié, programmé, actif, à venir, non confirmé, demandé',
    ),
  ],
  [
    'CONFIRMED',
    'PENDING',
    words(
      'confirmed, accepted, approved, bestätigt, angenommen, genehmigt, zugesagt, confirmé, accepté, approuvé, validé',
    ),
  ],
  [
    'CHECKED_IN',
    'PENDING',
    words(
      'checked in, check in, arrived, here, eingecheckt, angekommen, anwesend, im wartezimmer, arrivé, enregistré, présent, en salle d attente',
    ),
  ],
  [
    'IN_PROGRESS',
    'PENDING',
    words(
      'in progress, started, ongoing, in behandlung, begonnen, laufend, läuft, en cours, commencé',
    ),
  ],
  [
    'COMPLETED',
    'KEPT',
    words(
      'completed, complete, done, finished, attended, fulfilled, closed, checked out, show, showed, paid, abgeschlossen, erledigt, beendet, durchgeführt, wahrgenommen, erschienen, stattgefunden, bezahlt, abgerechnet, terminé, effectué, réalisé, honoré, fini, clôturé, venu, vu, vue, payé',
    ),
  ],
  [
    'CANCELLED',
    'CANCELLED',
    words(
      'cancelled, canceled, cancelled by client, cancelled by customer, cancelled by provider, cancelled by staff, canceled by client, canceled by customer, declined, rejected, deleted, late cancel, late cancelled, late canceled, storniert, abgesagt, abgelehnt, gelöscht, annulliert, vom kunden abgesagt, vom kunden storniert, entfallen, entschuldigt, annulé, refusé, supprimé, décommandé, annulé par le client, excusé, absent excusé',
    ),
  ],
  [
    'NO_SHOW',
    'MISSED',
    words(
      'no show, noshow, missed, absent, did not attend, did not arrive, dna, nicht erschienen, nicht gekommen, verpasst, versäumt, ausgefallen, unentschuldigt, non venu, non honoré, manqué, absence, absent non excusé, lapin',
    ),
  ],
]

const BY_WORD = new Map(
  WORDS.flatMap(([status, outcome, all]) => all.map((word) => [word, { status, outcome }])),
)

/** Whether the text is a status in some software. */
export const isStatusWord = (text: string) => BY_WORD.has(plainText(text))

/** The status of the business that a word means; undefined if that is not certain. */
export function findStatusOf(word: string, statuses: KnownStatus[]): string | undefined {
  const plain = plainText(word)
  const usable = statuses.filter(({ active }) => active)
  const own = usable.find(
    ({ status, label }) => plainText(status) === plain || plainText(label) === plain,
  )
  if (own) return own.status
  const meant = BY_WORD.get(plain)
  if (!meant) return undefined
  const found =
    usable.find(({ status }) => status === meant.status) ??
    usable.find(({ outcome }) => outcome === meant.outcome)
  return found?.status
}
