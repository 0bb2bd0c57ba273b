import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../src/client/client.ts'
import {
  isStored,
  pickFields,
  storedOf,
  type RecordId,
  type RecordKind,
  type RecordPlan,
  type SaveRequest,
} from '../records/kind.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'
import type { Location, Professional, Service, StatusName } from './setup.ts'
import { withOwnWords } from './status-labels.ts'

/** The properties that all of them have. */
export type SetupItem = {
  active: boolean
  modifiedUser: string | null
  modifiedDate: number | null
}

/** A kind of object that a form edits: how it is listed, read and saved. */
export type SetupKind<Item extends SetupItem, Fields extends object> = ReturnType<
  typeof kindOf<Item, Fields>
>

/** The properties that the forms edit. */
export type LocationFields = Pick<
  Location,
  'name' | 'address' | 'phone' | 'emailAddress' | 'timeZone' | 'directions'
>
export type StaffFields = Pick<
  Professional,
  | 'firstName'
  | 'lastName'
  | 'emailAddress'
  | 'locationIdList'
  | 'workingHours'
  | 'workingExceptions'
  | 'timeZone'
>
export type ServiceFields = Pick<Service, 'name' | 'durationMinutes' | 'price' | 'currency'>
export type StatusFields = Pick<
  StatusName,
  'objectType' | 'status' | 'label' | 'outcome' | 'live' | 'liveAfter'
>

/** Appointments and clients show the names of the setup. */
const SHOWING_SETUP = ['setup', 'overview', 'calendar', 'clients']

export const locationKind = kindOf<Location, LocationFields>({
  name: 'locations',
  queryKey: ['setup', 'locations'],
  shownIn: SHOWING_SETUP,
  idOf: ({ locationId }) => locationId,
  list: (signal) => all(client.listLocations({ limit: MAX_PAGE, active: 'all' }, { signal })),
  empty: {
    name: '',
    address: null,
    phone: null,
    emailAddress: null,
    timeZone: null,
    directions: null,
  },
  read: (id, signal) => client.getLocation({ locationId: Number(id) }, { signal }),
  plan: {
    fields: ['timeZone'],
    isAsked: isStored,
    read: (changes, id, signal) =>
      client.planLocation({ ...changes, locationId: numberOf(id) }, { signal }),
  },
  save: ({ id, changes, options }) =>
    client.createLocation({ ...changes, locationId: numberOf(id) }, options),
  setActive: ({ locationId }, active) => client.createLocation({ locationId, active }),
})

export const staffKind = kindOf<Professional, StaffFields>({
  name: 'staff',
  queryKey: ['setup', 'staff'],
  shownIn: SHOWING_SETUP,
  idOf: ({ professionalId }) => professionalId,
  list: (signal) => all(client.listMembersOfStaff({ limit: MAX_PAGE, active: 'all' }, { signal })),
  empty: {
    firstName: '',
    lastName: '',
    emailAddress: null,
    locationIdList: [],
    workingHours: [],
    workingExceptions: [],
    timeZone: null,
  },
  read: (id, signal) => client.getMemberOfStaff({ professionalId: Number(id) }, { signal }),
  save: ({ id, changes, options }) =>
    client.createMemberOfStaff({ ...changes, professionalId: numberOf(id) }, options),
  setActive: ({ professionalId }, active) => client.createMemberOfStaff({ professionalId, active }),
})

export const serviceKind = kindOf<Service, ServiceFields>({
  name: 'services',
  queryKey: ['setup', 'services'],
  shownIn: SHOWING_SETUP,
  idOf: ({ reasonId }) => reasonId,
  list: (signal) => all(client.listServices({ limit: MAX_PAGE, active: 'all' }, { signal })),
  empty: { name: '', durationMinutes: null, price: null, currency: null },
  read: (id, signal) => client.getService({ reasonId: Number(id) }, { signal }),
  save: ({ id, changes, options }) =>
    client.createService({ ...changes, reasonId: numberOf(id) }, options),
  setActive: ({ reasonId }, active) => client.createService({ reasonId, active }),
})

export const NEW_STATUS: StatusFields = {
  objectType: 'CALENDAR',
  status: '',
  label: '',
  outcome: 'PENDING',
  live: true,
  liveAfter: true,
}

/** The list has no removed ones. */
export const statusKind = kindOf<StatusName, StatusFields>({
  name: 'statuses',
  queryKey: ['setup', 'statuses'],
  shownIn: SHOWING_SETUP,
  idOf: ({ objectType, status }) => `${objectType}/${status}`,
  list: (signal) => client.listStatuses({}, { signal }),
  inWords: withOwnWords,
  empty: NEW_STATUS,
  hasEffects: true,
  plan: {
    fields: ['live', 'liveAfter'],
    isAsked: isStored,
    read: (changes, id, signal) =>
      client.planStatus({ ...changes, ...statusKeyOf(String(id)) }, { signal }),
  },
  read: (id, signal) => client.getStatus(statusKeyOf(String(id)), { signal }),
  save: ({ id, changes, options }) =>
    client.createStatus(
      id === undefined
        ? // A removed one of this name comes back, with the properties of the form.
          { ...NEW_STATUS, ...changes, active: true }
        : { ...changes, ...statusKeyOf(String(id)) },
      options,
    ),
  setActive: ({ objectType, status }, active) =>
    active
      ? client.createStatus({ objectType, status, active })
      : client.deleteStatus({ objectType, status }),
})

/** `CALENDAR/OPEN` */
function statusKeyOf(id: string) {
  const [objectType, status] = id.split(/\/(.*)/s) as [StatusName['objectType'], string]
  return { objectType, status }
}

export const numberOf = (id: RecordId | undefined) => (id === undefined ? undefined : Number(id))

type Calls<Item, Fields extends object> = {
  name: string
  queryKey: string[]
  /** The first parts of the keys of the queries that show such objects: a save refreshes them. */
  shownIn: string[]
  idOf: (item: Item) => RecordId
  /** The fields of a new one. */
  empty: Fields
  hasEffects?: boolean
  plan?: RecordPlan<Fields>
  /** Also the inactive ones. */
  list: (signal: AbortSignal) => Promise<Item[]>
  /** In the user's language, what the service has in English. */
  inWords?: (item: Item) => Item
  read: (id: RecordId, signal?: AbortSignal) => Answer<Item>
  save: (request: SaveRequest<Fields>) => Answer<Item>
  setActive: (item: Item, active: boolean) => Promise<unknown>
}

export function kindOf<Item extends SetupItem, Fields extends object>({
  name,
  queryKey,
  shownIn,
  empty,
  list,
  read,
  save,
  setActive,
  inWords = (item) => item,
  ...rest
}: Calls<Item, Fields>) {
  const stored = async (answer: Answer<Item>) => {
    const { item, etag } = await storedOf(answer)
    return { item: inWords(item), etag }
  }
  const refresh = () =>
    queryClient.invalidateQueries({
      predicate: (query) => shownIn.includes(String(query.queryKey[0])),
    })
  const record: RecordKind<Item, Fields> = {
    ...rest,
    queryKey: ['setup-form', name],
    draftOf: pickFields(empty),
    read: (id, signal) => stored(read(id, signal)),
    save: async (request) => {
      const saved = await stored(save(request))
      await refresh()
      return saved
    },
  }
  return {
    ...record,
    name,
    listQuery: queryOptions({
      queryKey,
      queryFn: async ({ signal }) => (await list(signal)).map(inWords),
    }),
    /** Saves properties of one outside of a form, or a new one. */
    write: async (item: Item | undefined, changes: Partial<Fields>) => {
      const base = record.draftOf(item)
      const { item: saved } = await record.save({
        id: item && rest.idOf(item),
        draft: { ...base, ...changes },
        base,
        changes,
        options: { ifMatch: null },
      })
      return saved
    },
    saveActive: (item: Item, active: boolean) => setActive(item, active).then(refresh),
  }
}
