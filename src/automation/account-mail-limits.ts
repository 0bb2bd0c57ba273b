import type { AccountMailPurpose, RecentAccountMail } from '../store/account-mails.ts'

type AccountMailLimit = {
  of: 'business' | 'sender' | 'recipient'
  max: number
  hours: number
  /** Mails that one request caused count once, and do not refuse each other. */
  perRequest?: boolean
  /** The limit holds only if the business has sent this many mails in `COUNTED_HOURS`. */
  ifBusinessSent?: number
}

/** Mails are counted for this long. */
export const COUNTED_HOURS = 24

/** Links for forgotten passwords that a business sends in a day. */
export const MAX_LINKS_PER_BUSINESS = 150

/**
 * How many account mails of a purpose one business sends; docs/mail.md shows them. Requests for links
 * are also limited by client and by address (`password-links.ts`). The limit of links to one recipient
 * counts for as long as a link works, so that it locks nobody out. It counts requests, because one
 * request sends a link to each account of the address.
 */
const LIMITS: Record<AccountMailPurpose, AccountMailLimit[]> = {
  INVITATION: [
    { of: 'business', max: 100, hours: 24 },
    { of: 'sender', max: 50, hours: 24 },
    { of: 'recipient', max: 5, hours: 24 },
  ],
  FORGOTTEN: [
    { of: 'business', max: MAX_LINKS_PER_BUSINESS, hours: 24 },
    { of: 'recipient', max: 10, hours: 1, perRequest: true },
    // Anybody can request links: a stranger who knows some addresses must leave links for the others.
    {
      of: 'recipient',
      max: 5,
      hours: 24,
      perRequest: true,
      ifBusinessSent: MAX_LINKS_PER_BUSINESS / 2,
    },
  ],
  NOTICE: [
    { of: 'business', max: 50, hours: 24 },
    { of: 'recipient', max: 10, hours: 24 },
  ],
  // Cancelling is usual: it must leave notices about failures for the day.
  CANCELLED_HERE: [
    { of: 'business', max: 50, hours: 24 },
    { of: 'recipient', max: 10, hours: 24 },
  ],
}

export type ExceededLimit = AccountMailLimit & {
  /** From then on the mail may be sent. */
  until: Temporal.Instant
}

type Counted = { purpose: AccountMailPurpose; sender: string | null; to: string }

/** The limit that refuses one more mail for longest; undefined if none does. `recent` is newest first. */
export function findExceededLimit(
  recent: RecentAccountMail[],
  { purpose, sender, to }: Counted,
  now: Temporal.Instant,
): ExceededLimit | undefined {
  const counts = {
    business: () => true,
    sender: (mail: RecentAccountMail) => mail.sender === sender,
    recipient: (mail: RecentAccountMail) => mail.recipient === to.toLowerCase(),
  }
  const limits = LIMITS[purpose].filter(({ ifBusinessSent = 0 }) => recent.length >= ifBusinessSent)
  const exceeded = limits.flatMap((limit) => {
    const mails = recent.filter(counts[limit.of])
    const counted = limit.perRequest ? firstOfEarlierRequests(mails, now) : mails
    const oldest = counted[limit.max - 1]
    const until = oldest?.createdDate.add({ hours: limit.hours })
    return until && Temporal.Instant.compare(until, now) > 0 ? [{ ...limit, until }] : []
  })
  return exceeded.toSorted((a, b) => Temporal.Instant.compare(b.until, a.until))[0]
}

/** All mails of a request were created at the moment of the request. */
const firstOfEarlierRequests = (mails: RecentAccountMail[], now: Temporal.Instant) =>
  mails.filter(
    ({ createdDate }, i) =>
      !createdDate.equals(now) && !(i > 0 && createdDate.equals(mails[i - 1]!.createdDate)),
  )
