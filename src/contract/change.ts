/** The kinds of objects whose changes `GET /changes` streams. */
export const CHANGE_KINDS = [
  'business',
  'location',
  'professional',
  'reason',
  'client',
  'status',
  'calendar',
  'classSchedule',
  'invitationCampaign',
  'invitation',
  'recall',
  'disclaimerForm',
  'disclaimer',
  'emailCategory',
  'emailTemplate',
  'eventDefinition',
  'eventAction',
  'eventTrigger',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

/** An event of `GET /changes`. If the id is null, any number of objects of the kind may have changed. */
export type Change = { kind: ChangeKind; id: number | string | null }
