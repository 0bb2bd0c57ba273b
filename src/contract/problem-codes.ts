/**
 * All kinds of problems. The code is stable: clients may depend on it. The page of a problem is
 * `/problems/<code>`, whose text is in src/texts/api/; docs/errors.md lists them all.
 */
export const PROBLEMS = {
  'bad-request': { status: 400, title: 'The request is not complete' },
  'invalid-json': { status: 400, title: 'The body is not JSON' },
  'missing-credential': { status: 401, title: 'There is no credential' },
  'wrong-scheme': { status: 401, title: 'The credential has another form' },
  'unknown-key': { status: 401, title: 'The key is not known' },
  'expired-session': { status: 401, title: 'The session has ended' },
  'other-session': { status: 401, title: 'Another person has signed in' },
  'sign-in-failed': { status: 401, title: 'The sign-in failed' },
  'wrong-signature': { status: 401, title: 'The signature is wrong' },
  forbidden: { status: 403, title: 'The credential may not do this' },
  'not-found': { status: 404, title: 'It does not exist' },
  'method-not-allowed': { status: 405, title: 'The address does not take this method' },
  'request-timeout': { status: 408, title: 'The body took too long' },
  conflict: { status: 409, title: 'It is not possible in this state' },
  'secret-key-missing': { status: 409, title: 'The service cannot store secrets' },
  mirrored: { status: 409, title: 'A feed decides about this' },
  gone: { status: 410, title: 'It is no longer available' },
  'stale-position': { status: 410, title: 'The position is of no use any more' },
  'stale-version': { status: 412, title: 'The object has changed' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The body is not sent as JSON' },
  'expectation-failed': { status: 417, title: 'The expectation is not supported' },
  'invalid-input': { status: 422, title: 'The input is wrong' },
  'unknown-property': { status: 422, title: 'The body has an unknown property' },
  'unknown-parameter': { status: 422, title: 'The query has an unknown parameter' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'too-many-mails': { status: 429, title: 'Too many mails' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  'internal-error': { status: 500, title: 'The service has failed' },
  unavailable: { status: 503, title: 'The service is not available' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof PROBLEMS

const FIRST_OF_STATUS = new Map<number, ProblemCode>()
for (const [code, { status }] of Object.entries(PROBLEMS)) {
  if (!FIRST_OF_STATUS.has(status)) FIRST_OF_STATUS.set(status, code as ProblemCode)
}

/** The code of an error that was thrown without one. */
export const codeOfStatus = (status: number): ProblemCode =>
  FIRST_OF_STATUS.get(status) ?? (status < 500 ? 'bad-request' : 'internal-error')

/** The details of faults that name an unknown property or query parameter begin with these. */
export const UNKNOWN_PROPERTY = 'unknown property'
export const UNKNOWN_PARAMETER = 'unknown query parameter'
