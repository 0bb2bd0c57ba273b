import { Type, type Static } from 'typebox'
import { about, Moment, Named, OrNull } from './schema.ts'

const Count = (description: string, example: number) => about(Type.Integer(), description, example)

const BusinessName = about(Type.String(), 'The name of the business.', 'Harbour Clinic')

const HeldAutomation = Named('HeldAutomation', {
  businessId: Type.Integer(),
  business: BusinessName,
  eventDefnId: Type.Integer(),
  description: OrNull(Type.String({ description: 'The description of the definition.' })),
  past: Count(
    'Triggers that were due before the hold: they may have been sent in the lost time.',
    20,
  ),
  useless: Count('Of them, those that are no longer of use. They become EXPIRED in any case.', 6),
  due: Count('Triggers that became due since the hold began.', 3),
  sentBefore: Count(
    'Triggers that a newer backup knows as sent, or for whose client the log of the mail server has a mail of the lost time. They are not sent again.',
    11,
  ),
})

const NewerState = Named('NewerState', {
  cancellations: Count('Objects that were cancelled or deleted since.', 3),
  erasures: Count('Clients that were erased since.', 1),
  suppressions: Count('Addresses that were suppressed since.', 2),
  sentMails: Count('Mails of the queue that were sent since. They are not sent again.', 4),
})

const RestoreHold = Named('RestoreHold', {
  heldSince: about(Moment, 'Since when nothing is fired and no mail is sent, in ms.'),
  heldReason: about(
    Type.String(),
    'How the restore was noticed.',
    'it is a copy in another server, database or folder',
  ),
  lostFrom: about(Moment, 'Changes after this time are lost, in ms.'),
  lostUntil: about(OrNull(Moment), 'Changes until this time are lost, in ms; null: not known.'),
  unknown: about(
    Type.Array(
      Type.Enum(['cancellations', 'erasures', 'suppressions', 'sentMails'], {
        title: 'LostChange',
      }),
    ),
    'What may be missing: mails could go to clients who have cancelled, were erased or have unsubscribed, or for the second time. Without what was taken from a newer backup, an export or the log of a mail server.',
    ['cancellations', 'erasures', 'suppressions', 'sentMails'],
  ),
  newerState: about(
    OrNull(NewerState),
    'What was taken from newer backups, exports and logs; null if nothing.',
  ),
  automations: about(Type.Array(HeldAutomation), 'What a release would fire, by automation.'),
  emails: about(
    Type.Array(
      Named('QueuedBefore', {
        businessId: Type.Integer(),
        business: BusinessName,
        emails: Count('Mails that are in the queue since before the hold.', 2),
      }),
    ),
    'Mails that a release would send.',
  ),
})

/** Whether the database was restored and waits for a person: see docs/backup.md. */
export const RestoreState = Named('RestoreState', {
  held: Type.Boolean({ description: 'Nothing is fired and no mail is sent.' }),
  hold: about(OrNull(RestoreHold), 'Why, and what a release would send; null if not held.'),
  releasedTime: about(OrNull(Moment), 'When the last hold was released, in ms.'),
  releasedUser: about(OrNull(Type.String()), 'Who released the last hold.', 'OPERATOR'),
})
export type RestoreState = Static<typeof RestoreState>

/** What happens to triggers and mails that were due before the hold, and may have been sent then. */
export const PAST_CHOICES = ['SEND', 'EXPIRE'] as const
export type PastChoice = (typeof PAST_CHOICES)[number]

export const ReleaseWrite = Named(
  'ReleaseWrite',
  {
    past: Type.Enum([...PAST_CHOICES], {
      title: 'PastChoice',
      description:
        'What was due before the hold may have been sent in the lost time. SEND: send it if it is still of use. EXPIRE: do not send it.',
    }),
  },
  { past: 'EXPIRE' },
)
