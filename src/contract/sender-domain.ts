import { Type, type Static } from 'typebox'
import { Named, about, Moment, OrNull } from './schema.ts'

export const CHECK_RESULTS = ['PASS', 'FAIL', 'UNKNOWN'] as const
export type CheckResult = (typeof CHECK_RESULTS)[number]

const Result = (description: string) =>
  Type.Enum([...CHECK_RESULTS], { title: 'CheckResult', description })

export const SenderCheck = Named('SenderCheck', {
  check: Type.Enum(['SPF', 'DKIM', 'DMARC'], {
    title: 'SenderCheckName',
    description: 'What was checked.',
    examples: ['DKIM'],
  }),
  result: Result('UNKNOWN if it could not be checked.'),
  detail: Type.String({
    description: 'What the check found.',
    examples: ['bw3f9a2c71r._domainkey.praxis.example does not exist'],
  }),
  todo: OrNull(
    Type.String({
      description: 'What to do about it; null if nothing is to be done.',
      examples: ['Add the TXT record bw3f9a2c71r._domainkey.praxis.example.'],
    }),
  ),
})
export type SenderCheck = Static<typeof SenderCheck>

export const DnsRecord = Named('DnsRecord', {
  purpose: Type.Enum(['SPF', 'DKIM', 'DMARC'], {
    title: 'DnsRecordPurpose',
    description: 'What receiving servers read it for.',
    examples: ['DKIM'],
  }),
  type: Type.Enum(['TXT'], { title: 'DnsRecordType', description: 'The type of the record.' }),
  name: Type.String({
    description: 'The full name of the record.',
    examples: ['bw3f9a2c71r._domainkey.praxis.example'],
  }),
  value: Type.String({
    description: 'Its text. If one exists for SPF or DMARC, extend it instead.',
    examples: ['v=DKIM1; k=rsa; p=MIIBIjANBgkq…'],
  }),
})
export type DnsRecord = Static<typeof DnsRecord>

export const SenderDomain = Named('SenderDomain', {
  businessId: Type.Integer(),
  domain: about(Type.String(), 'The domain from which the business may send.', 'praxis.example'),
  status: Result('The worst result of the checks; UNKNOWN before the first one.'),
  dnsRecords: Type.Array(DnsRecord, {
    description:
      'The records to publish in the DNS of the domain. The private keys are never shown.',
  }),
  checks: Type.Array(SenderCheck, { description: 'The results of the last check.' }),
  checkedTime: OrNull(Moment),
  nextCheckTime: about(Moment, 'When it is checked next, in ms.', 1_789_086_400_000),
  createdDate: Moment,
})
export type SenderDomain = Static<typeof SenderDomain>
