/** How an attempt to send a mail ended. */
export type AttemptResult = 'accepted' | 'captured' | 'later' | 'refused' | 'unclear'

/** The keys of `attempt.meanings` in the texts: what an answer means, and what to do. */
export type Meaning =
  | 'accepted'
  | 'captured'
  | 'greylisted'
  | 'unknownMailbox'
  | 'unknownDomain'
  | 'badAddress'
  | 'mailboxDisabled'
  | 'mailboxFull'
  | 'tooLarge'
  | 'tooMany'
  | 'spam'
  | 'notAuthenticated'
  | 'relayDenied'
  | 'loginRefused'
  | 'tls'
  | 'serverBusy'
  | 'noConnection'
  | 'noAnswer'
  | 'refused'
  | 'later'

export type Attempt = { phase: string; reply: string }

/** The first matching rule applies: enhanced status codes (RFC 3463) and the server's words. */
const RULES: [RegExp, Meaning][] = [
  // Some servers use another code for a full mailbox or greylisting.
  [/grey-?list|graylist/i, 'greylisted'],
  [/^\d{3}[ -]\d\.2\.2\b|over quota|mailbox (is )?full/i, 'mailboxFull'],
  [/^\d{3}[ -]\d\.1\.2\b|^\d{3}[ -]\d\.4\.4\b|domain (name )?not found/i, 'unknownDomain'],
  [/^\d{3}[ -]\d\.1\.(1|3|6|10)\b|user unknown|no such user/i, 'unknownMailbox'],
  [/^\d{3}[ -]\d\.2\.1\b/, 'mailboxDisabled'],
  [/^\d{3}[ -]\d\.(2\.3|3\.4)\b|^552\b|^the message is larger/, 'tooLarge'],
  [/^not one plain address/, 'badAddress'],
  [/^\d{3}[ -]\d\.7\.(23|24|25|26|27|20|21|22)\b|\b(spf|dkim|dmarc)\b/i, 'notAuthenticated'],
  [/relay(ing)? (access )?denied|^\d{3}[ -]5\.7\.1 .*relay/i, 'relayDenied'],
  [/^(530|534|535|538)\b/, 'loginRefused'],
  [/\b(tls|certificate|handshake)\b/i, 'tls'],
  [/too many|rate limit|^\d{3}[ -]4\.(3\.2|4\.5|7\.28)\b|throttl/i, 'tooMany'],
  [/spam|blocked|blacklist|block ?list|reputation|^\d{3}[ -]5\.7\.\d/i, 'spam'],
  [/^(421|451|452)\b/, 'serverBusy'],
  [/^450\b/, 'greylisted'],
  [/^(550|551|553)\b/, 'unknownMailbox'],
  [/refused|not reach|ENOTFOUND|ECONN|EHOST|resolve/i, 'noConnection'],
  [/time(d)? ?out|closed|reset|no answer|broken/i, 'noAnswer'],
]

/** The service itself refuses such a mail before it contacts the server. */
const BEFORE_SENDING = /^not one plain address|^the message is larger/

/** The meaning of a mail server's reply. */
export function meaningOf({ phase, reply }: Attempt): Meaning {
  const result = resultOf({ phase, reply })
  if (result === 'accepted' || result === 'captured') return result
  const found = RULES.find(([words]) => words.test(reply))
  return found ? found[1] : result === 'refused' ? 'refused' : 'later'
}

/** A reply that begins with 5 is final, one that begins with 4 is not (RFC 5321, 4.2.1). */
export function resultOf({ phase, reply }: Attempt): AttemptResult {
  if (phase === 'captured' || reply.startsWith('captured:')) return 'captured'
  if (BEFORE_SENDING.test(reply)) return 'refused'
  if (/^5\d\d\b/.test(reply)) return 'refused'
  if (/^4\d\d\b/.test(reply)) return 'later'
  if (/^2\d\d\b/.test(reply)) return 'accepted'
  return phase === 'end' ? 'unclear' : 'later'
}
