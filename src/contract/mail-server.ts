import { Type, type Static } from 'typebox'
import { Named, OrNull } from './schema.ts'

/** The state of the mail server, as the nodes that send have found it. */
export const MailServer = Named(
  'MailServer',
  {
    failingSince: OrNull(
      Type.Integer({ description: 'Since when it has taken no mail; null: it takes mails.' }),
    ),
    lastAcceptedTime: OrNull(Type.Integer({ description: 'When it last accepted a mail.' })),
    retryRequestedTime: OrNull(
      Type.Integer({ description: 'When a caller last asked to try it while it took no mail.' }),
    ),
  },
  {
    failingSince: 1_789_000_000_000,
    lastAcceptedTime: 1_788_999_990_000,
    retryRequestedTime: 1_789_000_060_000,
  },
)

export type MailServer = Static<typeof MailServer>
