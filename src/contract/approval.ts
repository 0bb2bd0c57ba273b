import { Type, type Static } from 'typebox'
import { about, Moment, Named, OrNull } from './schema.ts'

/** PASSED is not shown: it is within the limit, and is deleted once its triggers are released. */
export const APPROVAL_STATUSES = ['COUNTING', 'WAITING', 'RELEASED', 'CANCELLED'] as const
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number]

export const APPROVAL_SOURCES = ['IMPORT', 'FIRE', 'RESEND', 'FEED'] as const
export type ApprovalSource = (typeof APPROVAL_SOURCES)[number]

const HeldDefinition = Named('HeldDefinition', {
  eventDefnId: Type.Integer(),
  description: OrNull(Type.String({ description: 'The description of the definition.' })),
  triggers: about(Type.Integer(), 'How many triggers of the definition wait.', 1_180),
  mails: Type.Integer({ description: 'How many mails they would send.' }),
})
export type HeldDefinition = Static<typeof HeldDefinition>

/** An import or bulk call whose mails wait for a decision: see docs/approvals.md. */
export const Approval = Named(
  'Approval',
  {
    approvalId: Type.Integer(),
    businessId: Type.Integer(),
    source: Type.Enum([...APPROVAL_SOURCES], {
      title: 'ApprovalSource',
      description:
        'IMPORT: an import. FIRE: `POST /eventTriggers/fire`. RESEND: `POST /emails/resend`. FEED: a pull of a feed.',
    }),
    status: Type.Enum([...APPROVAL_STATUSES], {
      title: 'ApprovalStatus',
      description:
        'COUNTING: the call has not ended. WAITING: release or cancel it. RELEASED, CANCELLED: decided.',
    }),
    triggers: Type.Integer({ description: 'How many triggers wait, or waited, for it.' }),
    mails: Type.Integer({ description: 'How many mails the call would send at once.' }),
    bulkLimit: OrNull(Type.Integer({ description: 'The limit that the call exceeds.' })),
    byDefinition: Type.Array(HeldDefinition, { description: 'What would be sent.' }),
    decidedTime: about(
      OrNull(Moment),
      'When it was released or cancelled, in ms; null before.',
      1_789_000_000_000,
    ),
    decidedUser: OrNull(
      Type.String({ examples: ['anna'], description: 'Who released or cancelled it.' }),
    ),
    version: Type.Integer({ description: 'Incremented by every change.' }),
    createdDate: Moment,
    createdUser: Type.String({ description: 'Who made the call.' }),
    modifiedDate: Moment,
    modifiedUser: Type.String(),
  },
  {
    approvalId: 7,
    businessId: 1,
    source: 'IMPORT',
    status: 'WAITING',
    triggers: 1180,
    mails: 1180,
    bulkLimit: 50,
    byDefinition: [{ eventDefnId: 4, description: 'Confirmation', triggers: 1180, mails: 1180 }],
    decidedTime: null,
    decidedUser: null,
    version: 2,
    createdDate: 1_789_000_000_000,
    createdUser: 'key:front desk',
    modifiedDate: 1_789_000_000_000,
    modifiedUser: 'SYSTEM',
  },
)
export type Approval = Static<typeof Approval>

const MAX_LEFT_OUT = 10_000

export const ReleaseApproval = Named(
  'ReleaseApproval',
  {
    except: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1 }), {
        maxItems: MAX_LEFT_OUT,
        description:
          'Ids of triggers, for RESEND of emails, that are left out, as if only these were cancelled.',
      }),
    ),
  },
  { except: [41, 42] },
)
