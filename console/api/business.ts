import type { Business } from '../../src/contract/business.ts'
import { pickFields, storedOf, type RecordKind } from '../records/kind.ts'
import { client } from './client.ts'
import { queryClient } from './query-client.ts'
import { sessionQuery } from './session.ts'

export type BusinessFields = Pick<
  Business,
  | 'name'
  | 'timeZone'
  | 'emailAddress'
  | 'phone'
  | 'postalAddress'
  | 'postalAddressRequired'
  | 'language'
  | 'website'
  | 'replyTo'
  | 'accentColor'
  | 'logo'
  | 'bookingUrl'
  | 'confirmStatus'
  | 'cancelStatus'
  | 'cancelUntilHours'
  | 'quietHours'
  | 'bulkLimit'
  | 'lapsedAfterDays'
>

export const businessKind: RecordKind<Business, BusinessFields> = {
  queryKey: ['business'],
  idOf: ({ businessId }) => businessId,
  draftOf: pickFields<BusinessFields>({
    name: '',
    timeZone: '',
    emailAddress: null,
    phone: null,
    postalAddress: null,
    postalAddressRequired: false,
    language: null,
    website: null,
    replyTo: null,
    accentColor: null,
    logo: null,
    bookingUrl: null,
    confirmStatus: null,
    cancelStatus: null,
    cancelUntilHours: null,
    quietHours: null,
    bulkLimit: null,
    lapsedAfterDays: null,
  }),
  plan: {
    fields: ['timeZone', 'quietHours'],
    isAsked: ({ timeZone, quietHours }) =>
      timeZone !== '' && Object.values(quietHours ?? {}).every((time) => time !== ''),
    read: (changes, id, signal) =>
      client.planBusiness({ ...changes, businessId: Number(id) }, { signal }),
  },
  read: (id, signal) => storedOf(client.getBusiness({ businessId: Number(id) }, { signal })),
  save: async ({ id, changes, options }) => {
    const saved = await storedOf(
      client.createBusiness({ ...changes, businessId: Number(id) }, options),
    )
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey })
    return saved
  },
}

/** Stores a picture in the file library; the answer is its id. */
export async function uploadLogo(file: File) {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const { fileUUId } = await client.uploadFile({ name: file.name, content: bytes.toBase64() })
  return fileUUId
}

/** While mail is paused, nothing of the business is sent. */
export async function pauseMail(businessId: number, reason: string | null) {
  await savePause({ businessId, mailPaused: true, mailPausedReason: reason })
}

export async function resumeMail(businessId: number) {
  await savePause({ businessId, mailPaused: false })
}

async function savePause(
  pause: Pick<Business, 'businessId' | 'mailPaused'> & Partial<Pick<Business, 'mailPausedReason'>>,
) {
  await client.createBusiness(pause)
  await Promise.all(
    [sessionQuery.queryKey, ['overview']].map((queryKey) =>
      queryClient.invalidateQueries({ queryKey }),
    ),
  )
}
