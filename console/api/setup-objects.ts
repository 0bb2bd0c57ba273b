import { queryOptions } from '@tanstack/react-query'
import type { Answer } from '../../src/client/client.ts'
import { all, client, MAX_PAGE } from './client.ts'
import { queryClient } from './query-client.ts'
import type { Location, Professional, Service, StatusName } from './setup.ts'

/** The properties that all of them have. */
export type SetupItem = {
  active: boolean
  modifiedUser: string | null
  modifiedDate: number | null
}

/** One object with its version, for `If-Match`. */
export type Stored<Item> = { item: Item; etag: string | null }

/** A kind of object that a form edits: how it is listed, read and saved. */
export type SetupKind<Item extends SetupItem, Fields> = ReturnType<typeof kindOf<Item, Fields>>

/** The properties that the forms edit. */
export type LocationFields = Pick<
  Location,
  'name' | 'address' | 'phone' | 'emailAddress' | 'timeZone' | 'directions'
>
export type StaffFields = Pick<
  Professional,
  'firstName' | 'lastName' | 'emailAddress' | 'locationIdList' | 'workingHours' | 'timeZone'
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
  read: ({ locationId }, signal) => client.getLocation({ locationId }, { signal }),
  save: (item, body, ifMatch) =>
    client.createLocation({ ...body, locationId: item?.locationId }, { ifMatch }),
  setActive: ({ locationId }, active) => client.createLocation({ locationId, active }),
})

export const staffKind = kindOf<Professional, StaffFields>({
  name: 'staff',
  queryKey: ['setup', 'staff'],
  shownIn: SHOWING_SETUP,
  idOf: ({ professionalId }) => professionalId,
  list: (signal) => all(client.listMembersOfStaff({ limit: MAX_PAGE, active: 'all' }, { signal })),
  read: ({ professionalId }, signal) => client.getMemberOfStaff({ professionalId }, { signal }),
  save: (item, body, ifMatch) =>
    client.createMemberOfStaff({ ...body, professionalId: item?.professionalId }, { ifMatch }),
  setActive: ({ professionalId }, active) => client.createMemberOfStaff({ professionalId, active }),
})

export const serviceKind = kindOf<Service, ServiceFields>({
  name: 'services',
  queryKey: ['setup', 'services'],
  shownIn: SHOWING_SETUP,
  idOf: ({ reasonId }) => reasonId,
  list: (signal) => all(client.listServices({ limit: MAX_PAGE, active: 'all' }, { signal })),
  read: ({ reasonId }, signal) => client.getService({ reasonId }, { signal }),
  save: (item, body, ifMatch) =>
    client.createService({ ...body, reasonId: item?.reasonId }, { ifMatch }),
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
  read: ({ objectType, status }, signal) => client.getStatus({ objectType, status }, { signal }),
  save: (item, body, ifMatch) =>
    client.createStatus(
      item
        ? { ...body, objectType: item.objectType, status: item.status }
        : // A removed one of this name comes back, with the properties of the form.
          { ...NEW_STATUS, ...body, active: true },
      { ifMatch },
    ),
  setActive: ({ objectType, status }, active) =>
    active
      ? client.createStatus({ objectType, status, active })
      : client.deleteStatus({ objectType, status }),
})

type Calls<Item, Fields> = {
  name: string
  queryKey: string[]
  /** The first parts of the keys of the queries that show such objects: a save refreshes them. */
  shownIn: string[]
  idOf: (item: Item) => number | string
  /** Also the inactive ones. */
  list: (signal: AbortSignal) => Promise<Item[]>
  read: (item: Item, signal?: AbortSignal) => Answer<Item>
  save: (item: Item | undefined, body: Partial<Fields>, ifMatch: string | null) => Promise<Item>
  setActive: (item: Item, active: boolean) => Promise<unknown>
}

export function kindOf<Item extends SetupItem, Fields>({
  name,
  queryKey,
  shownIn,
  idOf,
  list,
  read,
  save,
  setActive,
}: Calls<Item, Fields>) {
  const refresh = () =>
    queryClient.invalidateQueries({
      predicate: (query) => shownIn.includes(String(query.queryKey[0])),
    })
  const readStored = async (item: Item, signal?: AbortSignal): Promise<Stored<Item>> => {
    const { body, response } = await read(item, signal).withResponse()
    return { item: body, etag: response.headers.get('etag') }
  }
  const saveAndRefresh = async (
    item: Item | undefined,
    body: Partial<Fields>,
    etag: string | null,
  ) => {
    const saved = await save(item, body, etag)
    await refresh()
    return saved
  }
  return {
    name,
    idOf,
    read: readStored,
    listQuery: queryOptions({
      queryKey,
      queryFn: ({ signal }) => list(signal),
    }),
    oneQuery: (item: Item) =>
      queryOptions({
        queryKey: ['setup-form', name, idOf(item)],
        // The form's copy must not change while the user edits; saving detects conflicts.
        staleTime: Number.POSITIVE_INFINITY,
        gcTime: 0,
        queryFn: ({ signal }) => readStored(item, signal),
      }),
    /** Creates one without an item. A stale `etag` is answered with 412. */
    save: saveAndRefresh,
    saveActive: (item: Item, active: boolean) => setActive(item, active).then(refresh),
  }
}
