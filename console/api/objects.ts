import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { Answer, AnswerOf, InputOf } from '../../src/client/client.ts'
import type { ObjectType } from '../../src/contract/event-type.ts'
import type { NamedTrigger } from '../../src/contract/event-trigger.ts'
import {
  hasAll,
  isStored,
  pickFields,
  storedOf,
  type RecordId,
  type RecordKind,
} from '../records/kind.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { numberOf } from './setup-objects.ts'

/** Classes, recalls, campaigns with their invitations, and forms with those who sign them. */

export type ClassItem = AnswerOf<'listClasses'>['items'][number]
export type ClassRecord = AnswerOf<'getClass'>
export type Recall = AnswerOf<'listRecalls'>['items'][number]
export type Campaign = AnswerOf<'getInvitationCampaign'>
export type Invitation = AnswerOf<'listInvitations'>['items'][number]
export type DisclaimerForm = AnswerOf<'getDisclaimerForm'>
export type Disclaimer = AnswerOf<'listDisclaimers'>['items'][number]

/** Required references are empty in a new one. */
type Fields<Item, Name extends keyof Item> = { [name in Name]: Item[name] | null }

export type ClassFields = Fields<
  ClassRecord,
  | 'name'
  | 'professionalId'
  | 'locationId'
  | 'reasonId'
  | 'startTime'
  | 'endTime'
  | 'status'
  | 'capacity'
> &
  Pick<ClassRecord, 'clientIdList' | 'attendance' | 'confirmedClientIdList'>
export type RecallFields = Fields<
  AnswerOf<'getRecall'>,
  'clientId' | 'dueTime' | 'reasonId' | 'professionalId' | 'locationId' | 'status'
>
export type CampaignFields = Fields<Campaign, 'name' | 'description' | 'expiresTime' | 'bookingUrl'>
export type InvitationFields = Fields<
  AnswerOf<'getInvitation'>,
  'invitationCampaignId' | 'clientId' | 'status' | 'expiresTime'
>
export type FormFields = Fields<DisclaimerForm, 'name' | 'body'>
export type DisclaimerFields = Fields<
  AnswerOf<'getDisclaimer'>,
  'disclaimerFormId' | 'clientId' | 'calendarId' | 'status'
>

const PAGE = 50

type Page<Item> = { items: Item[]; nextCursor: string | null }
type Paged = { limit: number; cursor: string | undefined }

/** A list that is loaded page by page. The first part of the key is that of live updates. */
const listOf = <Item>(
  name: string,
  filters: object,
  read: (page: Paged, signal: AbortSignal) => Promise<Page<Item>>,
) =>
  infiniteQueryOptions({
    queryKey: ['calendar', name, 'list', filters],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => read({ limit: PAGE, cursor: pageParam }, signal),
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  })

export type ListQuery<Item> = ReturnType<typeof listOf<Item>>

export const classesQuery = (filters: { from: number }) =>
  listOf<ClassItem>('classes', filters, (page, signal) =>
    client.listClasses({ ...filters, ...page, expand: 'names,messages' }, { signal }),
  )

export const recallsQuery = (filters: { status?: string | undefined }) =>
  listOf<Recall>('recalls', filters, (page, signal) =>
    client.listRecalls({ ...filters, ...page, expand: 'names,messages' }, { signal }),
  )

export const campaignsQuery = listOf<Campaign>('campaigns', {}, (page, signal) =>
  client.listInvitationCampaigns(page, { signal }),
)

export const invitationsQuery = (filters: { invitationCampaignId: number }) =>
  listOf<Invitation>('invitations', filters, (page, signal) =>
    client.listInvitations({ ...filters, ...page, expand: 'names,messages' }, { signal }),
  )

export const formsQuery = listOf<DisclaimerForm>('forms', {}, (page, signal) =>
  client.listDisclaimerForms(page, { signal }),
)

export const disclaimersQuery = (filters: { disclaimerFormId: number }) =>
  listOf<Disclaimer>('disclaimers', filters, (page, signal) =>
    client.listDisclaimers({ ...filters, ...page, expand: 'names,messages' }, { signal }),
  )

/** A kind of record with messages. */
export type EventKind<Item, Draft extends object> = RecordKind<Item, Draft> & {
  objectType: ObjectType
  messages: (id: RecordId, signal: AbortSignal) => Promise<NamedTrigger[]>
}

export const objectMessagesQuery = <Item, Draft extends object>(
  kind: Pick<EventKind<Item, Draft>, 'objectType' | 'messages'>,
  id: RecordId,
) =>
  queryOptions({
    queryKey: ['calendar', 'messages', kind.objectType, id],
    refetchInterval: 30_000,
    queryFn: ({ signal }) => kind.messages(id, signal),
  })

/** Why each automation did, will or will not send a mail about an object. */
export const explanationsQuery = (objectType: ObjectType, objectId: RecordId) =>
  queryOptions({
    queryKey: ['calendar', 'explanations', objectType, objectId],
    queryFn: ({ signal }) => client.explainObject({ objectType, objectId }, { signal }),
  })

type Calls<Item, Draft extends object> = Pick<
  RecordKind<Item, Draft>,
  'idOf' | 'settings' | 'hasEffects' | 'plan'
> & {
  name: string
  empty: Draft
  read: (id: RecordId, signal?: AbortSignal) => Answer<Item>
  save: (body: Partial<Draft>, id: RecordId | undefined, options: object) => Answer<Item>
}

function recordOf<Item extends object, Draft extends object>(
  calls: Calls<Item, Draft>,
): RecordKind<Item, Draft> {
  const { name, empty, read, save, ...rest } = calls
  return {
    ...rest,
    queryKey: ['calendar', name],
    draftOf: pickFields(empty),
    read: (id, signal) => storedOf(read(id, signal)),
    save: async ({ id, changes, options }) => {
      const saved = await storedOf(save(changes, id, options))
      // Lists, messages and the page Today depend on it.
      await queryClient.invalidateQueries({
        predicate: ({ queryKey }) => !['session', 'record'].some((part) => queryKey.includes(part)),
      })
      return saved
    },
  }
}

const text = (id: RecordId | undefined) => (id === undefined ? undefined : String(id))
/** Without a required property the service says so. */
const bodyOf = <Body>(changes: object, ids: object) => ({ ...changes, ...ids }) as Body

const classBody = (changes: Partial<ClassFields>, id: RecordId | undefined) =>
  bodyOf<InputOf<'createClass'>>(changes, { classScheduleId: numberOf(id) })

export const classKind: EventKind<ClassRecord, ClassFields> = {
  ...recordOf<ClassRecord, ClassFields>({
    name: 'classes',
    idOf: ({ classScheduleId }) => classScheduleId,
    hasEffects: true,
    settings: [['startTime', 'endTime']],
    empty: {
      name: null,
      professionalId: null,
      locationId: null,
      reasonId: null,
      startTime: null,
      endTime: null,
      status: null,
      capacity: null,
      clientIdList: [],
      attendance: [],
      confirmedClientIdList: [],
    },
    read: (id, signal) => client.getClass({ classScheduleId: Number(id) }, { signal }),
    save: (changes, id, options) => client.createClass(classBody(changes, id), options),
  }),
  objectType: 'CLASS_SCHEDULE',
  messages: (id, signal) =>
    client.listEventTriggersOfClass({ classScheduleId: Number(id), expand: 'names' }, { signal }),
  plan: {
    isAsked: hasAll('name', 'professionalId', 'locationId', 'startTime', 'endTime'),
    read: (changes, id, signal) => client.planClass(classBody(changes, id), { signal }),
  },
}

const recallBody = (changes: Partial<RecallFields>, id: RecordId | undefined) =>
  bodyOf<InputOf<'createRecall'>>(changes, { recallId: numberOf(id) })

export const recallKind: EventKind<AnswerOf<'getRecall'>, RecallFields> = {
  ...recordOf<AnswerOf<'getRecall'>, RecallFields>({
    name: 'recalls',
    idOf: ({ recallId }) => recallId,
    hasEffects: true,
    empty: {
      clientId: null,
      dueTime: null,
      reasonId: null,
      professionalId: null,
      locationId: null,
      status: null,
    },
    read: (id, signal) => client.getRecall({ recallId: Number(id) }, { signal }),
    save: (changes, id, options) => client.createRecall(recallBody(changes, id), options),
  }),
  objectType: 'RECALL',
  messages: (id, signal) =>
    client.listEventTriggersOfRecall({ recallId: Number(id), expand: 'names' }, { signal }),
  plan: {
    isAsked: hasAll('clientId', 'dueTime'),
    read: (changes, id, signal) => client.planRecall(recallBody(changes, id), { signal }),
  },
}

const campaignBody = (changes: Partial<CampaignFields>, id: RecordId | undefined) =>
  bodyOf<InputOf<'createInvitationCampaign'>>(changes, { invitationCampaignId: numberOf(id) })

export const campaignKind = recordOf<Campaign, CampaignFields>({
  name: 'campaigns',
  idOf: ({ invitationCampaignId }) => invitationCampaignId,
  hasEffects: true,
  empty: { name: null, description: null, expiresTime: null, bookingUrl: null },
  read: (id, signal) =>
    client.getInvitationCampaign({ invitationCampaignId: Number(id) }, { signal }),
  plan: {
    fields: ['expiresTime'],
    isAsked: isStored,
    read: (changes, id, signal) =>
      client.planInvitationCampaign(campaignBody(changes, id), { signal }),
  },
  save: (changes, id, options) =>
    client.createInvitationCampaign(campaignBody(changes, id), options),
})

const invitationBody = (changes: Partial<InvitationFields>, id: RecordId | undefined) =>
  bodyOf<InputOf<'createInvitation'>>(changes, { invitationUUID: text(id) })

export const invitationKind: EventKind<AnswerOf<'getInvitation'>, InvitationFields> = {
  ...recordOf<AnswerOf<'getInvitation'>, InvitationFields>({
    name: 'invitations',
    idOf: ({ invitationUUID }) => invitationUUID,
    hasEffects: true,
    empty: { invitationCampaignId: null, clientId: null, status: null, expiresTime: null },
    read: (id, signal) => client.getInvitation({ invitationUUID: String(id) }, { signal }),
    save: (changes, id, options) => client.createInvitation(invitationBody(changes, id), options),
  }),
  objectType: 'INVITATION',
  messages: (id, signal) =>
    client.listEventTriggersOfInvitation(
      { invitationUUID: String(id), expand: 'names' },
      { signal },
    ),
  plan: {
    isAsked: hasAll('invitationCampaignId', 'clientId'),
    read: (changes, id, signal) => client.planInvitation(invitationBody(changes, id), { signal }),
  },
}

export const formKind = recordOf<DisclaimerForm, FormFields>({
  name: 'forms',
  idOf: ({ disclaimerFormId }) => disclaimerFormId,
  empty: { name: null, body: null },
  read: (id, signal) => client.getDisclaimerForm({ disclaimerFormId: Number(id) }, { signal }),
  save: (changes, id, options) =>
    client.createDisclaimerForm(bodyOf(changes, { disclaimerFormId: numberOf(id) }), options),
})

const disclaimerBody = (changes: Partial<DisclaimerFields>, id: RecordId | undefined) =>
  bodyOf<InputOf<'createDisclaimer'>>(changes, { disclaimerId: numberOf(id) })

export const disclaimerKind: EventKind<AnswerOf<'getDisclaimer'>, DisclaimerFields> = {
  ...recordOf<AnswerOf<'getDisclaimer'>, DisclaimerFields>({
    name: 'disclaimers',
    idOf: ({ disclaimerId }) => disclaimerId,
    hasEffects: true,
    empty: { disclaimerFormId: null, clientId: null, calendarId: null, status: null },
    read: (id, signal) => client.getDisclaimer({ disclaimerId: Number(id) }, { signal }),
    save: (changes, id, options) => client.createDisclaimer(disclaimerBody(changes, id), options),
  }),
  objectType: 'DISCLAIMER',
  messages: (id, signal) =>
    client.listEventTriggersOfDisclaimer({ disclaimerId: Number(id), expand: 'names' }, { signal }),
  plan: {
    isAsked: hasAll('disclaimerFormId', 'clientId'),
    read: (changes, id, signal) => client.planDisclaimer(disclaimerBody(changes, id), { signal }),
  },
}
