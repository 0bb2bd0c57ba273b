/**
 * All kinds of problems. The code is stable: clients may depend on it. The page of a problem is
 * `/problems/<code>`; docs/errors.md lists them all.
 */
export const PROBLEMS = {
  'bad-request': {
    status: 400,
    title: 'The request is not complete',
    meaning: 'The request lacks a part that HTTP or this address needs, such as a body.',
    remedy: 'Read `detail` and send the part that it names.',
  },
  'invalid-json': {
    status: 400,
    title: 'The body is not JSON',
    meaning: 'The body could not be parsed. `detail` names the line and the column.',
    remedy:
      'Correct the JSON at that place. It must be UTF-8, without comments or trailing commas.',
  },
  'missing-credential': {
    status: 401,
    title: 'There is no credential',
    meaning: 'The request carries neither a key nor a session.',
    remedy: 'Send `Authorization: Bearer <key>`, or sign in with `POST /session`.',
  },
  'wrong-scheme': {
    status: 401,
    title: 'The credential has another form',
    meaning: 'The `Authorization` header is there, but it is not `Bearer <key>`.',
    remedy: 'Send `Authorization: Bearer <key>`, with one space and nothing after the key.',
  },
  'unknown-key': {
    status: 401,
    title: 'The key is not known',
    meaning: 'There is no such active key: it was mistyped, revoked, or it has expired.',
    remedy: 'Check the key. An owner or administrator can create another with `POST /apiKey`.',
  },
  'expired-session': {
    status: 401,
    title: 'The session has ended',
    meaning: 'The session cookie is not known any more: it expired, or the person was signed out.',
    remedy: 'Sign in again with `POST /session`.',
  },
  'other-session': {
    status: 401,
    title: 'Another person has signed in',
    meaning:
      'The header `Expect-User` names another person than the session: somebody else has signed in with the same browser.',
    remedy: 'Read everything again as the person who is signed in now, or sign in again.',
  },
  'sign-in-failed': {
    status: 401,
    title: 'The sign-in failed',
    meaning: 'The username or the password is wrong. Which of them is not said.',
    remedy: 'Try again, or ask an owner or administrator to set a new password.',
  },
  'wrong-signature': {
    status: 401,
    title: 'The signature is wrong',
    meaning:
      'A webhook of a feed is not signed with its secret, or was signed more than 5 minutes ago.',
    remedy: 'Enter the secret of `POST /feed/{feedId}/hook` in the source, and check its clock.',
  },
  forbidden: {
    status: 403,
    title: 'The credential may not do this',
    meaning: 'The caller is known, but lacks the scope or the function that `detail` names.',
    remedy: 'Use a key with that scope, or ask an owner or administrator for the role.',
  },
  'not-found': {
    status: 404,
    title: 'It does not exist',
    meaning:
      'The address or the object does not exist. An object of another business gets the same answer.',
    remedy: 'Check the path and the id. Ids are whole numbers above 0.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The address does not take this method',
    meaning: 'The address exists. The `Allow` header and `detail` name the methods that it takes.',
    remedy: 'Use one of those methods. Objects are created and changed with POST.',
  },
  'request-timeout': {
    status: 408,
    title: 'The body took too long',
    meaning: 'The body did not arrive in time.',
    remedy: 'Send it again.',
  },
  conflict: {
    status: 409,
    title: 'It is not possible in this state',
    meaning: 'The request contradicts the state of the object, or another request that is running.',
    remedy: 'Read the object again, then decide.',
  },
  'secret-key-missing': {
    status: 409,
    title: 'The service cannot store secrets',
    meaning:
      'The request contains a password or token of another system, and the service has no key to encrypt it.',
    remedy: 'Ask the operator to set `SECRET_KEY`, then send the request again.',
  },
  mirrored: {
    status: 409,
    title: 'A feed decides about this',
    meaning:
      'The object mirrors an appointment of another scheduler. Its time, client, staff, service and location are those of the source.',
    remedy:
      'Change it in the source of the feed that `detail` names. Status, note, tags and price can be changed here.',
  },
  gone: {
    status: 410,
    title: 'It is no longer available',
    meaning: 'The link has expired, was revoked, or was used before.',
    remedy: 'Ask for a new link.',
  },
  'stale-position': {
    status: 410,
    title: 'The position is of no use any more',
    meaning:
      '`changedSince` comes from another state of the database, such as the one before a restored backup or a failover, or from a credential that sees another part of the business. What changed since then cannot be listed.',
    remedy:
      'Read the list without `changedSince`, then continue with `nextPosition` of its last page.',
  },
  'stale-version': {
    status: 412,
    title: 'The object has changed',
    meaning: '`If-Match` names an older version than the one that is stored.',
    remedy: 'Read the object again and repeat the change with its new `ETag`.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    meaning: 'A body may have at most 1 MiB.',
    remedy: 'Send less at once. `POST /import` takes any length.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The body is not sent as JSON',
    meaning: 'The body is not `application/json` in UTF-8 without a content encoding.',
    remedy: 'Send `Content-Type: application/json`.',
  },
  'expectation-failed': {
    status: 417,
    title: 'The expectation is not supported',
    meaning: 'Of the `Expect` header only `100-continue` is supported.',
    remedy: 'Leave the header out.',
  },
  'invalid-input': {
    status: 422,
    title: 'The input is wrong',
    meaning:
      'The request was understood, but values are wrong. `errors` lists every one of them with its place: a JSON pointer into the body, or `?name` of the query. An id in a body or a query that the business does not have is one of them.',
    remedy: 'Correct all of them and send the request again. Nothing was written.',
  },
  'unknown-property': {
    status: 422,
    title: 'The body has an unknown property',
    meaning:
      'The body names a property that this kind of object does not have. `errors` says where, and which name was probably meant.',
    remedy: 'Correct the name or leave it out. Nothing was written.',
  },
  'unknown-parameter': {
    status: 422,
    title: 'The query has an unknown parameter',
    meaning: 'The query names a parameter that this address does not take.',
    remedy: 'Correct the name or leave it out.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    meaning: 'The credential has used up its rate. `Retry-After` says for how many seconds.',
    remedy: 'Wait that long, then go on. The `RateLimit` header of every answer helps to pace.',
  },
  'too-many-mails': {
    status: 429,
    title: 'Too many mails',
    meaning:
      'The business, the caller or the recipient has reached the limit of such mails. `detail` says which, and when it ends; so does `Retry-After`, in seconds.',
    remedy: 'Try again then. Nothing was written.',
  },
  'headers-too-large': {
    status: 431,
    title: 'The headers are too large',
    meaning: 'The headers of the request exceed 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
  },
  'internal-error': {
    status: 500,
    title: 'The service has failed',
    meaning: 'This is an error of the service. Its log has the details under the id in `detail`.',
    remedy: 'Try again; a POST with the same `Idempotency-Key` is not done twice.',
  },
  unavailable: {
    status: 503,
    title: 'The service is not available',
    meaning: 'The database does not answer, or the service is closing.',
    remedy: 'Try again after the seconds that `Retry-After` names.',
  },
} as const satisfies Record<
  string,
  { status: number; title: string; meaning: string; remedy: string }
>

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
